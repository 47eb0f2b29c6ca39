/** How a crossing of a notice names its subject when that is no budget but the end of a service token. */
const prefix = "service-token ";

export function tokenEndingName(keyId: string): string {
  return `${prefix}${keyId}`;
}

/** The key whose end a crossing is about; null: it is about a budget. */
export function endingTokenId({ budget }: { readonly budget: string }): string | null {
  return budget.startsWith(prefix) ? budget.slice(prefix.length) : null;
}
