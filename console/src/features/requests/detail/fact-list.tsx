import type { ReactNode } from "react";

export type Fact = readonly [name: string, value: ReactNode];

/** Names and values in as many columns as fit. Empty values are left out. */
export function FactList({ facts }: { readonly facts: readonly Fact[] }) {
  const filled = facts.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return (
    <dl className="fact-list">
      {filled.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
