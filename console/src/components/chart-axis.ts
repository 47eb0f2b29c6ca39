export const dayMs = 86_400_000;

/**
 * Tick values if steps are shorter than a day but labels show only dates: the first step of each day, so that no date is repeated.
 * undefined: as many ticks as fit.
 */
export function momentTicks(at: readonly number[], stepMs: number): number[] | undefined {
  if (showsTime(at, stepMs) || stepMs >= dayMs) return undefined;
  return at.filter((moment, place) => place === 0 || dayOf(moment) !== dayOf(at[place - 1] ?? moment));
}

/** The time of day while at most two days are shown, the date otherwise. */
export function showsTime(at: readonly number[], stepMs: number): boolean {
  return stepMs < dayMs && (at.at(-1) ?? 0) - (at[0] ?? 0) <= 2 * dayMs;
}

function dayOf(moment: number): string {
  return new Date(moment).toDateString();
}

const linesWanted = 4;
const headRoom = 1.05;

/** Round values from 0, or from below `least`, to above the maximum, so that no line runs along the upper edge. */
export function valueTicks(greatest: number, least = 0): number[] {
  const whole = greatest - least;
  if (!(whole > 0) || !Number.isFinite(whole)) return [0, 1];
  const rough = (whole * headRoom) / linesWanted;
  const size = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 2.5, 5, 10].find((each) => each * size >= rough * 0.999) ?? 10;
  const step = factor * size;
  const first = Math.floor((least * headRoom) / step);
  const lines = Math.ceil((greatest * headRoom) / step) - first;
  // Steps such as 0.1 have no exact sum.
  return Array.from({ length: lines + 1 }, (_, place) => Number(((first + place) * step).toPrecision(12)));
}
