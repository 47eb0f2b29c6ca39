/** What a text of a field for numbers comes to; null where that is no number: nothing, a sign, a lone point. */
export function numberOf(typed: number | string): number | null {
  const number = typeof typed === "number" ? typed : typed.trim() === "" ? Number.NaN : Number(typed);
  return Number.isFinite(number) ? number : null;
}
