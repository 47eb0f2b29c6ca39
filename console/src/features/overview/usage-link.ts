import type { LinkProps } from "@tanstack/react-router";

interface UsageView {
  readonly by: "model" | "key" | "person";
  readonly from?: unknown;
  readonly to?: unknown;
  readonly model?: string;
  readonly key?: string;
  readonly person?: string;
}

/** The usage page with this period, dimension and filters. */
export function usageLink(view: UsageView): LinkProps {
  const entries = Object.entries(view).filter(([, value]) => value !== undefined);
  return { to: "/usage", search: Object.fromEntries(entries.map(([name, value]) => [name, String(value)])) };
}

/** The dimension that shows what one value consists of. */
export const nextDimension = { model: "key", key: "model", person: "model" } as const;
