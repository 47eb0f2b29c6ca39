import type { ReactNode } from "react";

export interface Fact {
  readonly name: string;
  readonly value: ReactNode;
  /** Spans two columns if there is room. */
  readonly wide?: boolean;
}

/** One name and value of a `facts-list`. */
export function FactRow({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** Names and values of one object, in as many columns as fit. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl className="facts">
      {facts.map(({ name, value, wide }) => (
        <div key={name} data-wide={wide}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
