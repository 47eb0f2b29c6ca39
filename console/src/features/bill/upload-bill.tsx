import { Alert, Loader, Stack, Text } from "@mantine/core";
import type { BillSource } from "@sluice/contract";
import { billBytesMax } from "@sluice/contract/words";
import { useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { formatBytes } from "../../client/format.ts";
import { DropArea } from "../../components/drop-area.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Rich, t } from "../../language/areas/bill.ts";

/** Compares a bill that is dropped here or chosen. A file with a problem is refused as a whole, and the problem is shown. */
export function UploadBill({ source: { provider, kind } }: { readonly source: BillSource }) {
  const [wrong, setWrong] = useState<string | null>(null);
  const upload = useAct("reconciliation.upload", {
    invalidates: ["reconciliation.list", "reconciliation.show"],
    done: ({ data }) => t("bill.upload.done", { days: data.length }),
    inline: true,
  });
  const take = async (files: readonly File[]) => {
    const [file] = files;
    if (file === undefined) return;
    upload.reset();
    const problem = files.length > 1 ? t("bill.upload.one") : problemOf(file);
    setWrong(problem);
    if (problem === null) upload.mutate({ params: { provider }, body: { text: await file.text() } });
  };
  return (
    <Stack gap="xs" mb="md">
      <DropArea
        accept=".csv,.tsv,.json,.jsonl,.txt"
        label={t("bill.upload.choose", { provider })}
        aria-describedby="bill-file"
        invalid={wrong !== null || upload.error !== null}
        disabled={upload.isPending}
        onFiles={(files) => void take(files)}
        prompt={
          <Rich text="bill.upload.drop" tags={{ choose: (words) => <span className="text-link">{words}</span> }} />
        }
        dropNow={t("bill.upload.dropNow")}
      >
        <Text size="xs" c="dimmed" component="span" id="bill-file">
          {t(`bill.files.${kind as "cur" | "gcp" | "focus" | "csv"}`)}
        </Text>
        {upload.isPending && <Loader size="xs" aria-label={t("bill.upload.comparing")} />}
      </DropArea>
      {wrong !== null && (
        <Alert color="red" role="alert">
          {wrong}
        </Alert>
      )}
      {upload.error !== null && <ProblemAlert problem={upload.error} />}
    </Stack>
  );
}

function problemOf({ name, size }: File): string | null {
  if (size === 0) return t("bill.upload.empty", { name });
  if (/\.(gz|zip)$/i.test(name)) return t("bill.upload.compressed", { name });
  return size > billBytesMax ? t("bill.upload.large", { name, max: formatBytes(billBytesMax) }) : null;
}
