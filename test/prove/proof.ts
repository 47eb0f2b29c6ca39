/** What was asked, what came out, and whether it is as promised. */
export interface Finding {
  readonly what: string;
  readonly figure: string;
  readonly good: boolean;
  /** Broken promises in words. */
  readonly faults: readonly string[];
}

const faultsShown = 20;

/** A finding that is good when nothing speaks against it. */
export function finding(what: string, figure: string, faults: readonly (string | null)[]): Finding {
  const told = faults.filter((fault) => fault !== null);
  return { what, figure, good: told.length === 0, faults: told };
}

/** Null when they are the same. */
export function unlike(name: string, found: number | string, wanted: number | string): string | null {
  return found === wanted ? null : `${name}: ${found} instead of ${wanted}`;
}

/** Lines for a terminal. */
export function table(findings: readonly Finding[]): string {
  const width = Math.max(0, ...findings.map(({ what }) => what.length));
  return findings
    .flatMap(({ what, figure, good, faults }) => [
      `${good ? "ok  " : "FAIL"}  ${what.padEnd(width)}  ${figure}`,
      ...faults.slice(0, faultsShown).map((fault) => `      ${fault}`),
      ...(faults.length > faultsShown ? [`      and ${faults.length - faultsShown} more`] : []),
    ])
    .join("\n");
}

/** Counts by name, in words. */
export function say(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([what, count]) => `${what} ${count}`).join(", ");
}
