import { Text } from "@mantine/core";
import type { QueryInput } from "@sluice/contract";
import { useCall } from "../../../api/use-call.ts";
import { formatCompact, formatCount, formatMoment, formatUsd } from "../../../client/format.ts";
import { t } from "../../../language/areas/requests.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import type { RequestQuery } from "../request-query.ts";

/** Sums of everything that the filters match, also of rows that are not loaded. */
export function RequestTotals({ query: { text, sort: _, ...query } }: { readonly query: RequestQuery }) {
  const workspace = useWorkspace();
  const totals = useCall("requests.totals", {
    params: { workspace: workspace.path },
    query: query as QueryInput<"requests.totals">,
    enabled: !workspace.none && text === undefined,
    keepBefore: true,
  });
  if (text !== undefined || totals.data === undefined) return <div className="request-totals" />;
  const { requests, unsuccessful, input_tokens, output_tokens, cost_usd, searched_from: since } = totals.data;
  return (
    <div className="request-totals" data-stale={totals.isPlaceholderData || undefined}>
      <Text fz="sm" aria-live="polite">
        {t("requests.totals.line", {
          requests: formatCount(requests),
          unsuccessful: formatCount(unsuccessful),
          input: formatCompact(input_tokens),
          output: formatCompact(output_tokens),
          cost: formatUsd(cost_usd),
        })}
      </Text>
      {since !== null && (
        <Text fz="xs" c="dimmed">
          {t("requests.totals.since", { when: formatMoment(since) })}
        </Text>
      )}
    </div>
  );
}
