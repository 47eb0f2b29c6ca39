import { Button } from "@mantine/core";
import { type ConsoleKey, keySorts, type ListedKey } from "@sluice/contract";
import { IconKey, IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { usePages } from "../../../api/use-pages.ts";
import { DataTable } from "../../../components/data-table.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { PageFrame } from "../../../components/page-frame.tsx";
import { t } from "../../../language/areas/keys.ts";
import { useOrder, useUrlSearch, useUrlText } from "../../../routes/search.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import { type CreatedKey, KeyCreated } from "../key-created.tsx";
import { BulkBar, type SelectedKeys } from "./bulk-bar.tsx";
import { CreateKey } from "./create-key.tsx";
import { columnsInWorkspace, columnsOfAll } from "./key-columns.tsx";
import { KeyFilters } from "./key-filters.tsx";
import { isFiltered, keyQuery } from "./key-query.ts";

/** The keys of one workspace or of all, and the form to create one. */
export default function KeysPage() {
  const workspace = useWorkspace();
  const [create, setCreate] = useUrlText("create");
  const [made, setMade] = useState<CreatedKey | null>(null);
  const mayMake = workspace.may("member") && !workspace.none;
  const makeButton = (
    <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setCreate("1")}>
      {t("keys.create.verb")}
    </Button>
  );
  return (
    <PageFrame title={t("keys.list.title")} description={t("keys.list.description")} actions={mayMake && makeButton}>
      <KeyList makeButton={mayMake ? makeButton : null} />
      {create !== "" && mayMake && (
        <CreateKey
          onClose={() => setCreate("")}
          onMade={(answer) => {
            setCreate("");
            setMade(answer);
          }}
        />
      )}
      <KeyCreated
        made={made}
        title={made === null ? "" : t("keys.create.done", { name: made.key.name })}
        onClose={() => setMade(null)}
      />
    </PageFrame>
  );
}

function KeyList({ makeButton }: { readonly makeButton: React.ReactNode }) {
  const workspace = useWorkspace();
  const search = useUrlSearch();
  const order = useOrder(keySorts, "name");
  const query = keyQuery(search, { oneWorkspace: workspace.slug !== null, sort: order.by });
  const list = { params: { workspace: workspace.path }, query };
  const rows = usePages("keys.list", { ...list, enabled: !workspace.none });
  const [selected, select] = useState<SelectedKeys>(noKeys);
  if (workspace.none) {
    return (
      <EmptyState icon={<IconKey />} title={t("keys.list.noWorkspace")}>
        {t("keys.list.noWorkspaceHelp")}
      </EmptyState>
    );
  }
  const selection = { rows: selected, onChange: select, nameOf: (key: ListedKey) => key.name };
  return (
    <>
      <KeyFilters />
      {selected.size > 0 && <BulkBar selected={selected} onChange={select} list={list} total={rows.total} />}
      <DataTable
        label={t("keys.list.title")}
        columns={workspace.all ? columnsOfAll : columnsInWorkspace}
        rows={rows}
        rowKey={(key) => key.id}
        name="keys"
        pageSize={50}
        order={order}
        {...(workspace.may("member") ? { selection } : {})}
        rowLink={linkOf}
        dimmed={(key) => key.state !== "active"}
        empty={<NoKeys searched={isFiltered(search)} makeButton={makeButton} />}
      />
    </>
  );
}

const noKeys: SelectedKeys = new Map();

function linkOf(key: ConsoleKey) {
  return { to: "/keys/$key", params: { key: key.id }, search: { workspace: key.workspace.slug } } as const;
}

function NoKeys({ searched, makeButton }: { readonly searched: boolean; readonly makeButton: React.ReactNode }) {
  if (searched) {
    return (
      <EmptyState icon={<IconKey />} title={t("keys.list.notFound")}>
        {t("keys.list.notFoundHelp")}
      </EmptyState>
    );
  }
  return (
    <EmptyState icon={<IconKey />} title={t("keys.list.empty")} action={makeButton}>
      {t("keys.list.emptyHelp")}
    </EmptyState>
  );
}
