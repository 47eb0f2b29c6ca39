import { Button, Stack } from "@mantine/core";
import { IconFiles } from "@tabler/icons-react";
import { CodeBlock } from "../../components/code-block.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { t } from "../../language/areas/files.ts";
import { useUrlChange, useUrlSearch } from "../../routes/search.ts";
import { useSession } from "../../session/session-context.tsx";
import { uploadCall } from "./upload-call.ts";

/** The URL parameters that filter the list. */
export const fileFilters = ["purpose", "key"] as const;

/** Shown for an empty list: no file matches the filters, or there are none yet; then it shows the call that uploads one. */
export function NoFiles() {
  const { answer } = useSession();
  const search = useUrlSearch();
  const change = useUrlChange();
  if (fileFilters.some((name) => (search[name] ?? "") !== "")) {
    return (
      <EmptyState
        icon={<IconFiles />}
        title={t("files.list.noMatch")}
        action={
          <Button variant="default" onClick={() => change(Object.fromEntries(fileFilters.map((name) => [name, ""])))}>
            {t("files.list.clear")}
          </Button>
        }
      >
        {t("files.list.noMatchHelp")}
      </EmptyState>
    );
  }
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
