import type { ChartSeries } from "./chart-props.ts";

/** The series also differ in lightness and contrast with both themes. */
const colors = [
  "cyan.6",
  "indigo.5",
  "teal.5",
  "orange.5",
  "grape.5",
  "lime.6",
  "pink.5",
  "blue.4",
  "yellow.6",
  "red.5",
];

const quietColor = "gray.5";

/**
 * A color for each series by its id, so that a model has the same one in most charts. Two series of a chart never share a color while
 * there are enough of them.
 */
export function chartColors(series: readonly Pick<ChartSeries, "id" | "quiet">[]): readonly string[] {
  if (series.length === 1) return [series[0]?.quiet === true ? quietColor : (colors[0] ?? quietColor)];
  const used = new Set<number>();
  const chosen = new Map<string, string>();
  for (const { id } of series.filter(({ quiet }) => quiet !== true).toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    let place = hashOf(id) % colors.length;
    while (used.has(place) && used.size < colors.length) place = (place + 1) % colors.length;
    used.add(place);
    chosen.set(id, colors[place] ?? quietColor);
  }
  return series.map(({ id, quiet }) => (quiet === true ? quietColor : (chosen.get(id) ?? quietColor)));
}

function hashOf(text: string): number {
  let hash = 7;
  for (const character of text) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003;
  return hash;
}
