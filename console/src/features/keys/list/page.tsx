import { Button, Stack, Tabs } from "@mantine/core";
import { type ConsoleKey, keySorts, type ListedKey } from "@sluice/contract";
import { IconKey, IconMailQuestion, IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { usePages } from "../../../api/use-pages.ts";
import { DataTable } from "../../../components/data-table.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { PageFrame } from "../../../components/page-frame.tsx";
import { TabRow } from "../../../components/tab-row.tsx";
import { t } from "../../../language/areas/keys.ts";
import { useOrder, useUrlSearch, useUrlText } from "../../../routes/search.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import { type CreatedKey, KeyCreated } from "../key-created.tsx";
import { RequestKey } from "../requests/request-key.tsx";
import { RequestList } from "../requests/request-list.tsx";
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
  const [requesting, setRequesting] = useUrlText("new_request");
  const [view, setView] = useUrlText("view", "keys");
  const mayMake = workspace.may("member") && !workspace.none;
  const makeButton = (
    <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setCreate("1")}>
      {t("keys.create.verb")}
    </Button>
  );
  // Members and viewers need a request for some settings; admins do not.
  const requestButton = !workspace.none && !workspace.may("admin") && (
    <Button
      leftSection={<IconMailQuestion size={14} aria-hidden />}
      variant={mayMake ? "default" : "filled"}
      onClick={() => setRequesting("1")}
    >
      {t("keys.requests.verb")}
    </Button>
  );
  const actions = (
    <>
      {requestButton}
      {mayMake && makeButton}
    </>
  );
  return (
    <PageFrame title={t("keys.list.title")} description={t("keys.list.description")} actions={actions}>
      {workspace.none ? (
        <EmptyState icon={<IconKey />} title={t("keys.list.noWorkspace")}>
          {t("keys.list.noWorkspaceHelp")}
        </EmptyState>
      ) : (
        <Tabs value={view} onChange={(next) => setView(next ?? "keys")} keepMounted={false}>
          <TabRow value={view}>
            <Tabs.Tab value="keys">{t("keys.list.tab")}</Tabs.Tab>
            <Tabs.Tab value="requests">{t("keys.requests.tab")}</Tabs.Tab>
          </TabRow>
          <Tabs.Panel value="keys">
            <KeyList makeButton={mayMake ? makeButton : requestButton} />
          </Tabs.Panel>
          <Tabs.Panel value="requests">
            <RequestList requestButton={requestButton} />
          </Tabs.Panel>
        </Tabs>
      )}
      {requesting !== "" && <RequestKey onClose={() => setRequesting("")} />}
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
  const rows = usePages("keys.list", list);
  const [selected, select] = useState<SelectedKeys>(noKeys);
  const selection = { rows: selected, onChange: select, nameOf: (key: ListedKey) => key.name };
  return (
    <Stack gap="lg">
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
    </Stack>
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
