import type { LinkProps } from "@tanstack/react-router";

interface UsageView {
  readonly by: "model" | "key" | "person";
  readonly from?: unknown;
  readonly to?: unknown;
  readonly model?: string;
  readonly key?: string;
  readonly person?: string;
}

/** The requests behind a figure. */
export function usageLink({ from, to, model, key, person }: UsageView): LinkProps {
  const search = { from: textOf(from), to: textOf(to), model, key, person };
  return {
    to: "/requests",
    search: Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)),
  };
}

function textOf(value: unknown): string | undefined {
  return value === undefined ? undefined : String(value);
}
