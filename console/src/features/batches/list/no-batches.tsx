import { Stack } from "@mantine/core";
import { IconStack2 } from "@tabler/icons-react";
import { useCall } from "../../../api/use-call.ts";
import { CodeBlock } from "../../../components/code-block.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { NoMatch, useIsFiltered } from "../../../components/no-match.tsx";
import { t } from "../../../language/areas/batches.ts";
import { useSession } from "../../../session/session-context.tsx";
import { batchCall } from "./batch-call.ts";
import { batchFilters } from "./batch-query.ts";

/** Shown for an empty list: no batch matches the filters, or there are none yet; then it shows the call that creates one. */
export function NoBatches() {
  const { answer } = useSession();
  const isFiltered = useIsFiltered(batchFilters);
  const models = useCall("models.list");
  if (isFiltered) return <NoMatch icon={<IconStack2 />} title={t("batches.list.noMatch")} filters={batchFilters} />;
  const model = models.data?.data.find(({ type }) => type === "chat")?.name ?? "your-model";
  return (
    <Stack gap={0} align="center">
      <EmptyState icon={<IconStack2 />} title={t("batches.list.none")}>
        {t("batches.list.noneHelp")}
      </EmptyState>
      <div className="teaching-code">
        <CodeBlock code={batchCall(answer.public_url, model)} label={t("batches.list.curl")} wrap />
      </div>
    </Stack>
  );
}
