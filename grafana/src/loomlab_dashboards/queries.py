"""PromQL that the dashboards share. Variables of the dashboards stay in it as `$name`."""

APPROACH = 'service=~"$approach"'
RUN = 'experiment=~"$experiment", run=~"$run"'
ANY_RUN = f"max(lab_run_info{{{RUN}}})"
"""1 while the chosen run goes, without labels."""


def select(metric: str, *matchers: str) -> str:
    return f"{metric}{{{', '.join(matchers)}}}" if matchers else metric


def rate(metric: str, *matchers: str, by: str = "service") -> str:
    """The metric's increase a second, summed over all labels but those of `by`."""
    return f"sum by ({by}) (rate({select(metric, *matchers)}[$__rate_interval]))"


def total(metric: str, *matchers: str) -> str:
    return f"sum by (service) ({select(metric, *matchers)})"


def quantile(share: float, histogram: str, *matchers: str) -> str:
    return f"histogram_quantile({share}, {rate(f'{histogram}_bucket', *matchers, by='service, le')})"


def error_share(*matchers: str) -> str:
    """The share of requests not answered 2xx; nothing while there are none."""
    answered = rate("lab_requests_seconds_count", *matchers)
    failed = rate("lab_requests_seconds_count", 'status!~"2.."', *matchers)
    return f"({failed} or 0 * {answered}) / ({answered} > 0)"


def chosen(expr: str) -> str:
    """Only what was measured of the chosen experiments and JDKs; outside of runs the experiment is empty."""
    return f'({expr}) * on (service) service:lab_run:info{{experiment=~"$experiment", jdk=~"$jdk"}}'


def during_run(expr: str) -> str:
    """Only the approach of the chosen run, only while the run goes."""
    return f"({expr}) * on (service) group_left () service:lab_run:info{{{RUN}}}"


def while_run_goes(expr: str) -> str:
    """As `during_run`, for containers that are no approach."""
    return f"({expr}) * on () group_left () {ANY_RUN}"


def by_seconds(rule: str) -> str:
    """A rule's values by `run`, the folder of the run, and `seconds` since its measure phase began: so runs made one
    after another lie over each other. One instant query, at the end of the dashboard's range."""
    elapsed = 'run:lab_elapsed_seconds:max{experiment=~"$experiment"}'
    folder = f'label_join(count_values without () ("seconds", {elapsed}), "run", "/", "experiment", "run")'
    of_service = f'label_replace({folder}, "service", "$1", "approach", "(.+)")'
    timed = f"{rule}{{{APPROACH}}} * on (service) group_left (run, seconds) {of_service}"
    of_jdk = 'service:lab_run:info{jdk=~"$jdk"}'
    return f"max by (run, seconds) (max_over_time(({timed} and on (service) {of_jdk})[$__range:1s]))"
