import { type RequestDetail, usageTable } from "@sluice/contract";
import { useQuery } from "@tanstack/react-query";
import { useClient } from "../../api/call-context.tsx";
import { callKey } from "../../api/use-call.ts";
import type { Problem } from "../../client/problem.ts";
import { t } from "../../language/areas/media.ts";

const triesMax = 8;
const pauseMs = 500;

/** Usage and cost of a request, from the ledger. */
export interface Charge {
  readonly costUsd: number;
  /** The upstream did not report its full usage. */
  readonly estimated: boolean;
  /** The model had no price. */
  readonly unpriced: boolean;
  readonly used: readonly { readonly label: string; readonly units: number }[];
}

/** The charge from the ledger. Entries appear shortly after the response, so it polls a few times. */
export function useCharge(workspace: string, requestId: string | null): Charge | null | undefined {
  const call = useClient();
  const options = { params: { workspace, request: requestId ?? "-" } };
  const found = useQuery<RequestDetail, Problem>({
    queryKey: callKey("requests.show", options),
    queryFn: ({ signal }) => call("requests.show", { ...options, signal }),
    enabled: requestId !== null,
    retry: (tries, problem) => tries < triesMax && problem.code === "not_found",
    retryDelay: pauseMs,
    staleTime: 60_000,
  });
  if (requestId === null || found.isError) return null;
  return found.data === undefined ? undefined : chargeOf(found.data.attempts);
}

export function chargeOf(
  attempts: readonly Pick<RequestDetail["attempts"][number], "cost_usd" | "usage" | "usage_source" | "price_version">[],
): Charge {
  const units = (column: string) => attempts.reduce((sum, { usage }) => sum + (usage[column] ?? 0), 0);
  return {
    costUsd: attempts.reduce((sum, { cost_usd }) => sum + cost_usd, 0),
    estimated: attempts.some(({ usage_source }) => usage_source === "estimated"),
    unpriced: attempts.every(({ price_version }) => price_version === null),
    used: usageTable
      .filter(({ price }) => price !== null)
      .map(({ column }) => ({ label: t(`media.charge.used.${column}`), units: units(column) }))
      .filter(({ units }) => units > 0),
  };
}

export function chargeWords({ costUsd, estimated, unpriced }: Charge, formatUsd: (usd: number) => string): string {
  if (unpriced && costUsd === 0) return t("media.charge.unpriced");
  return estimated ? t("media.charge.about", { costUsd: formatUsd(costUsd) }) : formatUsd(costUsd);
}
