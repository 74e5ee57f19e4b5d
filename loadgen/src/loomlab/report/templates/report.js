(() => {
  "use strict";
  const room = document.getElementById("course-plots");
  if (!room) return;
  const data = JSON.parse(document.getElementById("courses").textContent);
  const choice = document.getElementById("course-group");
  const onPaper = { ink: "#1d2126", grid: "#e6e9ed", shade: "rgba(43,108,163,.12)" };
  let charts = [];

  const colours = () => {
    const style = getComputedStyle(document.documentElement);
    return { ink: style.getPropertyValue("--ink"), grid: style.getPropertyValue("--grid"), shade: onPaper.shade };
  };

  const seconds = (runs) => {
    const most = Math.max(...runs.flatMap((run) => Object.values(run.panels).map((points) => points.length)));
    return Array.from({ length: most }, (_, place) => runs[0].from + place * runs[0].step);
  };

  const padded = (points, length) => Array.from({ length }, (_, place) => points[place] ?? null);

  const marks = (runs, look) => (plot) => {
    const inside = runs.map((run) => run.interior).filter(Boolean);
    const { left, top, width, height } = plot.bbox;
    const at = (second) => Math.min(Math.max(plot.valToPos(second, "x", true), left), left + width);
    plot.ctx.save();
    if (inside.length === runs.length) {
      const from = at(Math.max(...inside.map((one) => one[0])));
      const to = at(Math.min(...inside.map((one) => one[1])));
      plot.ctx.fillStyle = look.shade;
      plot.ctx.fillRect(from, top, Math.max(to - from, 0), height);
    }
    plot.ctx.setLineDash([4, 4]);
    for (const run of runs) {
      plot.ctx.strokeStyle = run.colour;
      for (const second of run.loaded) {
        plot.ctx.beginPath();
        plot.ctx.moveTo(at(second), top);
        plot.ctx.lineTo(at(second), top + height);
        plot.ctx.stroke();
      }
    }
    plot.ctx.restore();
  };

  const chart = (panel, group, look) => {
    const runs = group.runs.filter((run) => run.panels[panel.key]);
    if (!runs.length) return;
    const figure = document.createElement("figure");
    figure.className = "plot course";
    const title = document.createElement("h4");
    title.textContent = panel.unit ? `${panel.title}, ${panel.unit}` : panel.title;
    figure.append(title);
    room.append(figure);
    const xs = seconds(runs);
    const axis = { stroke: look.ink, grid: { stroke: look.grid, width: 1 }, ticks: { stroke: look.grid, width: 1 } };
    const plot = new uPlot(
      {
        width: figure.clientWidth - 16,
        height: 210,
        cursor: { sync: { key: "courses" } },
        scales: { x: { time: false }, y: { range: (_, low, high) => [Math.min(low, 0), high > 0 ? high * 1.05 : 1] } },
        axes: [{ ...axis }, { ...axis, size: 58 }],
        series: [
          { label: "s" },
          ...runs.map((run) => ({ label: run.name, stroke: run.colour, width: 1.5, spanGaps: false, points: { show: false } })),
        ],
        hooks: { drawClear: [marks(runs, look)] },
      },
      [xs, ...runs.map((run) => padded(run.panels[panel.key], xs.length))],
      figure,
    );
    charts.push({ plot, figure });
  };

  const draw = (look) => {
    charts.forEach(({ plot }) => plot.destroy());
    charts = [];
    room.replaceChildren();
    const group = data.groups[Number(choice.value) || 0];
    data.panels.forEach((panel) => chart(panel, group, look));
  };

  const again = () => draw(colours());
  choice.addEventListener("change", again);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  addEventListener("beforeprint", () => draw(onPaper));
  addEventListener("afterprint", again);
  addEventListener("resize", () =>
    charts.forEach(({ plot, figure }) => plot.setSize({ width: figure.clientWidth - 16, height: 210 })),
  );
  again();
})();
