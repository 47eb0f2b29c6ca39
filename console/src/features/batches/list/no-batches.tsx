import { Button, Stack } from "@mantine/core";
import { IconStack2 } from "@tabler/icons-react";
import { useCall } from "../../../api/use-call.ts";
import { CodeBlock } from "../../../components/code-block.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { t } from "../../../language/areas/batches.ts";
import { useUrlChange, useUrlSearch } from "../../../routes/search.ts";
import { useSession } from "../../../session/session-context.tsx";
import { batchCall } from "./batch-call.ts";
import { batchFilters } from "./batch-query.ts";

/** Shown for an empty list: no batch matches the filters, or there are none yet; then it shows the call that creates one. */
export function NoBatches() {
  const { answer } = useSession();
  const search = useUrlSearch();
  const change = useUrlChange();
  const models = useCall("models.list");
  if (batchFilters.some((name) => (search[name] ?? "") !== "")) {
    return (
      <EmptyState
        icon={<IconStack2 />}
        title={t("batches.list.noMatch")}
        action={
          <Button variant="default" onClick={() => change(Object.fromEntries(batchFilters.map((name) => [name, ""])))}>
            {t("batches.list.clear")}
          </Button>
        }
      >
        {t("batches.list.noMatchHelp")}
      </EmptyState>
    );
  }
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
