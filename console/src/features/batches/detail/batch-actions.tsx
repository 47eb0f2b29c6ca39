import { Button } from "@mantine/core";
import { type BatchDetail, batchResultPath } from "@sluice/contract";
import { IconDownload } from "@tabler/icons-react";
import { useAct } from "../../../api/use-act.ts";
import { ConfirmButton } from "../../../components/confirm-button.tsx";
import { t } from "../../../language/areas/batches.ts";
import { useSession } from "../../../session/session-context.tsx";
import { isOpen } from "../batch-progress.tsx";

const downloadWords = { output: t("batches.download.output"), errors: t("batches.download.errors") } as const;

/** Cancel, and download the results. */
export function BatchActions({ slug, batch }: { readonly slug: string; readonly batch: BatchDetail }) {
  const { may } = useSession();
  const cancel = useAct("batches.cancel", {
    invalidates: ["batches.show", "batches.list"],
    done: t("batches.cancel.done"),
  });
  return (
    <>
      {isOpen(batch) && batch.cancel_at === null && may("member", slug) && (
        <ConfirmButton
          title={t("batches.cancel.title")}
          verb={t("batches.cancel.run")}
          onConfirm={() => cancel.mutateAsync({ params: { workspace: slug, batch: batch.id } })}
        >
          {t("batches.cancel.help")}
        </ConfirmButton>
      )}
      {batch.results.map((part) => (
        <Button
          key={part}
          component="a"
          href={batchResultPath(slug, batch.id, part)}
          download
          variant={part === "output" ? "filled" : "default"}
          leftSection={<IconDownload size={15} aria-hidden />}
        >
          {downloadWords[part]}
        </Button>
      ))}
    </>
  );
}
