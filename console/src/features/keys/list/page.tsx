import { Button } from "@mantine/core";
import { type ConsoleKey, keyStates, type QueryInput } from "@sluice/contract";
import { IconKey, IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { useCall } from "../../../api/use-call.ts";
import { usePages } from "../../../api/use-pages.ts";
import { DataTable } from "../../../components/data-table.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { type Filter, FilterBar } from "../../../components/filter-bar.tsx";
import { PageFrame } from "../../../components/page-frame.tsx";
import { SearchBox } from "../../../components/search-box.tsx";
import { t } from "../../../language/areas/keys.ts";
import { useUrlSearch, useUrlText } from "../../../routes/search.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import { type CreatedKey, KeyCreated } from "../key-created.tsx";
import { stateWords } from "../key-status.tsx";
import { CreateKey } from "./create-key.tsx";
import { columnsInWorkspace, columnsOfAll } from "./key-columns.tsx";
import { keyQuery } from "./key-query.ts";

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
  const filters = useFilters(workspace.slug);
  const query = keyQuery(search, workspace.slug !== null);
  const rows = usePages("keys.list", {
    params: { workspace: workspace.path },
    query,
    enabled: !workspace.none,
  });
  if (workspace.none) {
    return (
      <EmptyState icon={<IconKey />} title={t("keys.list.noWorkspace")}>
        {t("keys.list.noWorkspaceHelp")}
      </EmptyState>
    );
  }
  return (
    <>
      <FilterBar filters={filters}>
        <SearchBox label={t("keys.list.search")} placeholder={t("keys.list.searchPlaceholder")} />
      </FilterBar>
      <DataTable
        label={t("keys.list.title")}
        columns={workspace.all ? columnsOfAll : columnsInWorkspace}
        rows={rows}
        rowKey={(key) => key.id}
        name="keys"
        pageSize={50}
        rowLink={linkOf}
        dimmed={(key) => key.state !== "active"}
        empty={<NoKeys searched={isSearch(query)} makeButton={makeButton} />}
      />
    </>
  );
}

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

/** The group filter needs a selected workspace. */
function useFilters(slug: string | null): readonly Filter[] {
  const groups = useCall("groups.list", { params: { workspace: slug ?? "-" }, enabled: slug !== null });
  return [
    ...(slug === null
      ? []
      : [
          {
            name: "group",
            label: t("keys.group"),
            choices: (groups.data?.data ?? []).map((group) => ({ value: group.id, label: group.name })),
          },
        ]),
    {
      name: "state",
      label: t("keys.status"),
      choices: keyStates.map((value) => ({ value, label: stateWords[value] })),
    },
    {
      name: "service",
      label: t("keys.service.kind"),
      choices: [
        { value: "true", label: t("keys.service.label") },
        { value: "false", label: t("keys.service.ordinary") },
      ],
    },
    { name: "mine", label: t("keys.list.owner"), choices: [{ value: "true", label: t("keys.list.mine") }] },
  ];
}

function isSearch(query: QueryInput<"keys.list">): boolean {
  return Object.keys(query ?? {}).length > 0;
}
