/** The number in the text of a number field. null: empty, or only a sign or a decimal point. */
export function numberOf(typed: number | string): number | null {
  const number = typeof typed === "number" ? typed : typed.trim() === "" ? Number.NaN : Number(typed);
  return Number.isFinite(number) ? number : null;
}
