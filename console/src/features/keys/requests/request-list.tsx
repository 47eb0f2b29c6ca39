import { Stack, Text } from "@mantine/core";
import { type KeyRequest, keyRequestStates, type QueryInput } from "@sluice/contract";
import { IconMailQuestion } from "@tabler/icons-react";
import { useState } from "react";
import { usePages } from "../../../api/use-pages.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { Nothing, When } from "../../../components/figures.tsx";
import { type Filter, FilterBar } from "../../../components/filter-bar.tsx";
import { personText } from "../../../components/person-text.ts";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/keys.ts";
import { useUrlSearch, useUrlText } from "../../../routes/search.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import { type CreatedKey, KeyCreated } from "../key-created.tsx";
import { budgetWords } from "../limit-words.ts";
import { RequestDrawer } from "./request-drawer.tsx";
import { requestStatus, settingsOf } from "./request-words.ts";

/** How often the list is refreshed. */
const everyMs = 30_000;

/** The key requests of a workspace: every one for admins, for others their own. */
export function RequestList({ requestButton }: { readonly requestButton: React.ReactNode }) {
  const workspace = useWorkspace();
  const search = useUrlSearch();
  const [open, setOpen] = useUrlText("request");
  const [made, setMade] = useState<CreatedKey | null>(null);
  const state = keyRequestStates.find((each) => each === search["request_state"]);
  const query: QueryInput<"keyRequests.list"> = state === undefined ? {} : { state };
  const rows = usePages("keyRequests.list", { params: { workspace: workspace.path }, query, everyMs });
  return (
    <Stack gap="lg">
      <FilterBar filters={[stateFilter]} alsoClears={[]} />
      <DataTable
        label={t("keys.requests.list")}
        columns={workspace.all ? columnsOfAll : columns}
        rows={rows}
        rowKey={({ id }) => id}
        rowLink={linkOf}
        opened={({ id }) => id === open}
        empty={
          <EmptyState icon={<IconMailQuestion />} title={t("keys.requests.empty")} action={requestButton}>
            {workspace.may("admin") ? t("keys.requests.emptyForAdmins") : t("keys.requests.emptyHelp")}
          </EmptyState>
        }
      />
      {open !== "" && (
        <RequestDrawer
          workspace={workspace.path}
          id={open}
          onClose={() => setOpen("")}
          onCollected={(answer) => {
            setOpen("");
            setMade(answer);
          }}
        />
      )}
      <KeyCreated
        made={made}
        title={made === null ? "" : t("keys.create.done", { name: made.key.name })}
        onClose={() => setMade(null)}
      />
    </Stack>
  );
}

const stateFilter: Filter = {
  name: "request_state",
  label: t("keys.status"),
  choices: keyRequestStates.map((state) => ({ value: state, label: t(`keys.requests.state.${state}`) })),
};

function linkOf({ id }: KeyRequest) {
  return { to: "/keys", search: (before: object) => ({ ...before, request: id }) } as const;
}

const name: Column<KeyRequest> = {
  id: "name",
  header: t("keys.name"),
  cell: (request) => (
    <span className="key-name">
      {settingsOf(request).name}
      <Text component="small" className="break" lineClamp={2}>
        {request.purpose}
      </Text>
    </span>
  ),
};

const rest: readonly Column<KeyRequest>[] = [
  { id: "requester", header: t("keys.requests.requester"), cell: ({ requester }) => personText(requester) },
  {
    id: "group",
    header: t("keys.group"),
    secondary: true,
    cell: (request) => settingsOf(request).group?.name ?? <Nothing word={t("keys.none")} />,
  },
  {
    id: "budget",
    header: t("keys.budget"),
    align: "right",
    cell: (request) => {
      const { budget } = settingsOf(request);
      return budget === null ? <Nothing word={t("keys.none")} /> : budgetWords(budget);
    },
  },
  { id: "state", header: t("keys.status"), cell: (request) => <StatusBadge {...requestStatus(request)} /> },
  {
    id: "sent",
    header: t("keys.requests.sentAt"),
    align: "right",
    cell: (request) => <When at={request.created_at} />,
  },
];

const columns: readonly Column<KeyRequest>[] = [name, ...rest];
const columnsOfAll: readonly Column<KeyRequest>[] = [
  name,
  { id: "workspace", header: t("keys.workspace"), cell: (request) => request.workspace.slug },
  ...rest,
];
