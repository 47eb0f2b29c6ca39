import type { ReactNode } from "react";

export type Fact = readonly [name: string, value: ReactNode];

/** Names with their values, as many beside each other as there is room for. What is null or empty is left out. */
export function FactList({ facts }: { readonly facts: readonly Fact[] }) {
  const known = facts.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return (
    <dl className="fact-list">
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
