interface SparklineProps {
  /** One for each step; null: no data, drawn as a gap. */
  readonly values: readonly (number | null)[];
}

const width = 100;
const height = 24;
const pointsMin = 3;
const dashMin = 2;

/** A line without axes. Screen readers skip it, because the same figures are next to it. */
export function Sparkline({ values }: SparklineProps) {
  const numbers = values.filter((value) => value !== null);
  const drawn = numbers.length === 0 || values.length < pointsMin ? [] : runsOf(values, Math.max(...numbers, 0));
  return (
    <svg className="sparkline" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      {drawn.map((run) => (
        <g key={run.line}>
          <polygon points={run.area} />
          <polyline points={run.line} />
        </g>
      ))}
    </svg>
  );
}

/** Each unbroken stretch; a single point becomes a short dash. */
function runsOf(values: readonly (number | null)[], most: number) {
  const step = width / (values.length - 1);
  const runs: [number, number][][] = [];
  let open: [number, number][] | null = null;
  for (const [place, value] of values.entries()) {
    if (value === null) {
      open = null;
      continue;
    }
    if (open === null) {
      open = [];
      runs.push(open);
    }
    // A pixel above and below, so that the line is not cut.
    open.push([place * step, height - 1 - (most === 0 ? 0 : (value / most) * (height - 2))]);
  }
  return runs.map((run) => {
    const points = run.length === 1 ? dashOf(run[0] ?? [0, height], step) : run;
    const line = points.map(([x, y]) => `${round(x)},${round(y)}`).join(" ");
    return { line, area: `${round(points[0]?.[0])},${height} ${line} ${round(points.at(-1)?.[0])},${height}` };
  });
}

function dashOf([x, y]: [number, number], step: number): [number, number][] {
  const half = Math.max(step / 2, dashMin);
  return [
    [Math.max(0, x - half), y],
    [Math.min(width, x + half), y],
  ];
}

function round(value: number | undefined): number {
  return Math.round((value ?? 0) * 100) / 100;
}
