/** Whether a model's name is one of the built-in demo's. Other models are preferred if there are any. */
export function isDemoName(name: string): boolean {
  return /^demo(-|$)/.test(name);
}
