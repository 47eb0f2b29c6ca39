import { Stack } from "@mantine/core";
import { IconFiles } from "@tabler/icons-react";
import { CodeBlock } from "../../components/code-block.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { NoMatch, useIsFiltered } from "../../components/no-match.tsx";
import { t } from "../../language/areas/files.ts";
import { useSession } from "../../session/session-context.tsx";
import { uploadCall } from "./upload-call.ts";

/** The URL parameters that filter the list. */
export const fileFilters = ["purpose", "key"] as const;

/** Shown for an empty list: no file matches the filters, or there are none yet; then it shows the call that uploads one. */
export function NoFiles() {
  const { answer } = useSession();
  const isFiltered = useIsFiltered(fileFilters);
  if (isFiltered) return <NoMatch icon={<IconFiles />} title={t("files.list.noMatch")} filters={fileFilters} />;
  return (
    <Stack gap={0} align="center">
      <EmptyState icon={<IconFiles />} title={t("files.list.none")}>
        {t("files.list.noneHelp")}
      </EmptyState>
      <div className="teaching-code">
        <CodeBlock code={uploadCall(answer.public_url)} label={t("files.list.curl")} wrap />
      </div>
    </Stack>
  );
}
