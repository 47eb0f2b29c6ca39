import { Button, Group } from "@mantine/core";
import { type ConsoleFile, fileContentPath } from "@sluice/contract";
import { useMemo } from "react";
import { useAct } from "../../api/use-act.ts";
import { usePages } from "../../api/use-pages.ts";
import { formatBytes } from "../../client/format.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { CopyText } from "../../components/copy-button.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Bytes, Nothing, When } from "../../components/figures.tsx";
import { FilterBar } from "../../components/filter-bar.tsx";
import { NeedsWorkspace } from "../../components/needs-workspace.tsx";
import { PageFrame } from "../../components/page-frame.tsx";
import { t } from "../../language/areas/files.ts";
import { useUrlSearch } from "../../routes/search.ts";
import { useSession } from "../../session/session-context.tsx";
import "../../styles/media.css";
import { KeyFilter } from "../requests/list/key-filter.tsx";
import { fileFilters, NoFiles } from "./no-files.tsx";

const refreshMs = 20_000;
const pageRows = 50;
/** As in OpenAI's API. */
const purposes = ["batch", "batch_output", "user_data", "vision", "assistants", "evals", "fine-tune"] as const;

/** Files of a workspace, newest first. */
export default function FilesPage() {
  return (
    <PageFrame title={t("files.title")} description={t("files.help")}>
      <NeedsWorkspace why={t("files.needsWorkspace")}>{(slug) => <FileList key={slug} slug={slug} />}</NeedsWorkspace>
    </PageFrame>
  );
}

function FileList({ slug }: { readonly slug: string }) {
  const { may } = useSession();
  const { purpose, key } = useUrlSearch();
  const rows = usePages("files.list", {
    params: { workspace: slug },
    query: { limit: pageRows, ...(purpose ? { purpose } : {}), ...(key ? { key } : {}) },
    everyMs: refreshMs,
  });
  const mayRemove = may("member", slug);
  const shown = useMemo(
    () => [
      ...columns,
      {
        ...actions,
        cell: (file: ConsoleFile) => (
          <Group gap="xs" justify="flex-end" wrap="nowrap">
            {file.downloadable && <Download slug={slug} file={file} />}
            {mayRemove && <Remove slug={slug} file={file} />}
          </Group>
        ),
      },
    ],
    [mayRemove, slug],
  );
  const { last } = rows;
  return (
    <>
      <FilterBar
        filters={[{ name: "purpose", label: t("files.purpose"), choices: purposes }]}
        alsoClears={fileFilters.filter((name) => name !== "purpose")}
      >
        <KeyFilter />
      </FilterBar>
      {last !== null && (
        <p className="list-count">
          {last.total > 0 && `${t("files.total", { count: last.total, size: formatBytes(last.total_bytes) })} · `}
          {t("files.quota", { used: formatBytes(last.used_bytes), quota: formatBytes(last.quota_bytes) })}
        </p>
      )}
      <DataTable
        label={t("files.title")}
        columns={shown}
        rows={rows}
        rowKey={(file) => file.id}
        name="files"
        pageSize={pageRows}
        empty={<NoFiles />}
      />
    </>
  );
}

const columns: readonly Column<ConsoleFile>[] = [
  { id: "name", header: t("files.columns.name"), cell: ({ filename }) => <span className="break">{filename}</span> },
  {
    id: "id",
    header: t("files.columns.id"),
    cell: ({ id }) => <CopyText value={id} label={t("files.columns.copyId")} />,
  },
  { id: "purpose", header: t("files.purpose"), cell: ({ purpose }) => <span className="nowrap">{purpose}</span> },
  {
    id: "type",
    header: t("files.columns.type"),
    optional: true,
    cell: ({ media_type: type }) => <span className="break">{type}</span>,
  },
  {
    id: "size",
    header: t("files.columns.size"),
    align: "right",
    sortBy: ({ size_bytes: size }) => size,
    cell: ({ size_bytes: size }) => <Bytes value={size} />,
  },
  {
    id: "key",
    header: t("files.columns.key"),
    cell: ({ key }) => (key.name ? <span className="task-key cut">{key.name}</span> : <Nothing />),
  },
  {
    id: "at",
    header: t("files.columns.created"),
    align: "right",
    sortBy: ({ created_at: at }) => at,
    cell: ({ created_at: at }) => <When at={at} />,
  },
  {
    id: "expires",
    header: t("files.columns.expires"),
    align: "right",
    cell: ({ expires_at: at }) => <When at={at} />,
  },
];

const actions = { id: "actions", header: t("files.columns.actions"), align: "right", quiet: true } as const;

function Download({ slug, file }: { readonly slug: string; readonly file: ConsoleFile }) {
  return (
    <Button
      component="a"
      href={fileContentPath(slug, file.id)}
      download
      variant="default"
      size="compact-xs"
      aria-label={t("files.download.label", { name: file.filename })}
    >
      {t("files.download.short")}
    </Button>
  );
}

function Remove({ slug, file }: { readonly slug: string; readonly file: ConsoleFile }) {
  const remove = useAct("files.remove", { invalidates: ["files.list"], done: t("files.remove.done") });
  return (
    <ConfirmButton
      size="compact-xs"
      aria-label={t("files.remove.label", { name: file.filename })}
      title={t("files.remove.title", { name: file.filename })}
      verb={t("files.remove.run")}
      label={t("files.remove.short")}
      onConfirm={() => remove.mutateAsync({ params: { workspace: slug, file: file.id } })}
    >
      {t("files.remove.help")}
    </ConfirmButton>
  );
}
