"""PromQL that the dashboards share. Variables of the dashboards stay in it as `$name`."""

APPROACH = 'service=~"$approach"'
RUN = 'experiment=~"$experiment", run=~"$run"'
JUDGED = 'experiment=~"$experiment", approach=~"$approach", jdk=~"$jdk"'
ANY_RUN = f"max(lab_run_info{{{RUN}}})"
"""1 while the chosen run goes, without labels."""
UNMEASURED = "service:lab_run_unmeasured:max"
OUTSIDE_MEASURE = "service:lab_run_outside_measure:max"
WINDOW_FULL_S = 12
"""From then on the rates of a run are of its measured phase alone, as the rule UNMEASURED has it."""


def select(metric: str, *matchers: str) -> str:
    return f"{metric}{{{', '.join(matchers)}}}" if matchers else metric


def rate(metric: str, *matchers: str, by: str = "service") -> str:
    """The metric's increase a second, summed over all labels but those of `by`."""
    return f"sum by ({by}) (rate({select(metric, *matchers)}[$__rate_interval]))"


def total(metric: str, *matchers: str) -> str:
    return f"sum by (service) ({select(metric, *matchers)})"


def heap_limit(*matchers: str) -> str:
    """Both of ZGC's pools may grow to the whole heap; of the other collectors the pools add up to it."""
    most = select("jvm_memory_max_bytes", *matchers, 'area="heap"', 'id!="ZGC Old Generation"')
    return f"sum by (service) ({most} > 0)"


def memory_limit(*matchers: str) -> str:
    return f"max by (service) ({select('container_spec_memory_limit_bytes', *matchers)} > 0)"


def at_generator(rule: str) -> str:
    """A rule of runs as a figure of the approach that is under test."""
    return _by_service(f'{rule}{{approach=~"$approach"}}')


def measured(expr: str, without: str = UNMEASURED) -> str:
    """What was measured of the chosen experiments and JDKs, without warm-ups."""
    return (
        f'({expr}) * on (service) service:lab_run:info{{experiment=~"$experiment", jdk=~"$jdk"}}'
        f" unless on (service) {without}"
    )


def so_far(rule: str, judged: str, without_run: str) -> str:
    """A rule of runs that is of their measured phases up to then; where no run of an approach goes on, `judged` of its
    newest run that is not invalid; `without_run` of approaches that are up without a run."""
    of_jdk = 'last_over_time(service:lab_run:info{jdk=~"$jdk"}[$__interval])'
    live = f'last_over_time({rule}{{experiment=~"$experiment", approach=~"$approach"}}[$__interval])'
    goes_on = f"max by (service) ({_by_service(f'{live} and on (experiment, run) {of_jdk}')})"
    counted = f'{JUDGED}, verdict!="invalid"'
    newest = f"topk by (approach) (1, lab_result_finished_seconds{{{counted}}})"
    ended = f"max by (service) ({_by_service(f'{judged}{{{counted}}} and on (experiment, run) {newest}')})"
    no_run = 'service:lab_run:info{experiment=~"$experiment", run="", jdk=~"$jdk"}'
    return f"{goes_on} or {ended} or ({without_run}) * on (service) {no_run}"


def _by_service(expr: str) -> str:
    return f'label_replace({expr}, "service", "$1", "approach", "(.+)")'


def during_run(expr: str) -> str:
    """Only the approach of the chosen run, only while the run goes."""
    return f"({expr}) * on (service) group_left () service:lab_run:info{{{RUN}}}"


def while_run_goes(expr: str) -> str:
    """As `during_run`, for containers that are no approach."""
    return f"({expr}) * on () group_left () {ANY_RUN}"


def by_seconds(expr: str, since_s: int = WINDOW_FULL_S) -> str:
    """Figures of approaches by `run`, the folder of the run, and `seconds` since its measured phase began: so runs made
    one after another lie over each other. One instant query, at the end of the dashboard's range."""
    elapsed = f'run:lab_elapsed_seconds:max{{experiment=~"$experiment"}} >= {since_s}'
    folder = f'label_join(count_values without () ("seconds", {elapsed}), "run", "/", "experiment", "run")'
    timed = f"{expr} * on (service) group_left (run, seconds) {_by_service(folder)}"
    of_jdk = 'service:lab_run:info{jdk=~"$jdk"}'
    return f"max by (run, seconds) (max_over_time(({timed} and on (service) {of_jdk})[$__range:1s]))"
