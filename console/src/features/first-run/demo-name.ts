/** Whether a model's name is one of the built-in demo's. Where there is anything else, that is what one wants to try. */
export function isDemoName(name: string): boolean {
  return /^demo(-|$)/.test(name);
}
