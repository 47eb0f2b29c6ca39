import { Button } from "@mantine/core";
import { requestsCsvPath } from "@sluice/contract";
import { IconDownload } from "@tabler/icons-react";
import { t } from "../../../language/areas/requests.ts";
import { writeSearch } from "../../../routes/search.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import type { RequestQuery } from "../request-query.ts";

/** Downloads every request that the filters match. */
export function ExportCsv({ query: { sort: _, ...query } }: { readonly query: RequestQuery }) {
  const { path, none } = useWorkspace();
  if (none) return null;
  return (
    <Button
      component="a"
      href={`${requestsCsvPath(path)}${writeSearch(query)}`}
      download
      variant="default"
      leftSection={<IconDownload size={15} aria-hidden />}
    >
      {t("requests.exportCsv")}
    </Button>
  );
}
