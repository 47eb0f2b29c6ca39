import { Button, Group } from "@mantine/core";
import type { ConsoleGroup, ConsoleWorkspace } from "@sluice/contract";
import { IconPlus, IconUsersGroup } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { useAct } from "../../../api/use-act.ts";
import { useCall } from "../../../api/use-call.ts";
import { ConfirmButton } from "../../../components/confirm-button.tsx";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { Count, Nothing } from "../../../components/figures.tsx";
import { ManagedByFile } from "../../../components/managed-by-file.tsx";
import { PatternsText } from "../../../components/patterns-text.tsx";
import { rowsIn } from "../../../components/rows.ts";
import { Section } from "../../../components/section.tsx";
import { useUrlText } from "../../../routes/search.ts";
import { useSession } from "../../../session/session-context.tsx";
import { budgetWords, limitWords } from "../../keys/limit-words.ts";
import { afterWorkspaceChange } from "../workspace-routes.ts";
import { GroupDrawer } from "./group-drawer.tsx";

const newGroup = "new";

/** The tiers of access inside a workspace. The one that is open stands in the address. */
export function GroupsTab({ workspace }: { readonly workspace: ConsoleWorkspace }) {
  const { may } = useSession();
  const { slug } = workspace;
  const mayChange = may("admin", slug);
  const [open, setOpen] = useUrlText("group");
  const query = useCall("groups.list", { params: { workspace: slug } });
  const columns = useMemo(() => columnsFor(slug, mayChange ? setOpen : null), [slug, mayChange, setOpen]);
  const opened = query.data?.data.find((group) => group.id === open) ?? null;
  const make = mayChange ? (
    <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setOpen(newGroup)}>
      Make group
    </Button>
  ) : undefined;
  return (
    <Section
      title="Groups"
      description="A tier of access: which models its keys may call, and how much they may use together."
      actions={make}
      flush
    >
      <DataTable
        label="Groups"
        columns={columns}
        rows={rowsIn(query, (answer) => answer.data)}
        rowKey={(group) => group.id}
        empty={
          <EmptyState icon={<IconUsersGroup />} title="No groups yet" action={make}>
            Every key is in a group. Make one called default to begin with.
          </EmptyState>
        }
      />
      {(open === newGroup ? mayChange : opened !== null) && (
        <GroupDrawer
          key={open}
          workspace={workspace}
          group={opened}
          mayChange={mayChange}
          onClose={() => setOpen("")}
        />
      )}
    </Section>
  );
}

/** `open` null: only looked at. */
function columnsFor(slug: string, open: ((id: string) => void) | null): readonly Column<ConsoleGroup>[] {
  return [
    {
      id: "name",
      header: "Name",
      sortBy: (group) => group.name,
      cell: (group) => (
        <Group gap={6}>
          <b>{group.name}</b>
          <ManagedByFile by={group.managed_by} />
        </Group>
      ),
    },
    { id: "models", header: "Models", cell: (group) => <PatternsText patterns={group.models} shown={4} /> },
    { id: "limits", header: "Limits", cell: (group) => limitWords(group.limits) || <Nothing word="none" /> },
    {
      id: "budget",
      header: "Budget",
      sortBy: (group) => group.budget?.usd ?? null,
      cell: (group) => (group.budget === null ? <Nothing word="none" /> : budgetWords(group.budget)),
      align: "right",
    },
    {
      id: "keys",
      header: "Keys",
      sortBy: (group) => group.keys,
      cell: (group) => (
        <Link to="/keys" search={{ workspace: slug, group: group.id }} className="text-link">
          <Count value={group.keys} />
        </Link>
      ),
      align: "right",
    },
    ...(open === null
      ? []
      : [
          {
            id: "do",
            header: "Actions",
            quiet: true,
            cell: (group: ConsoleGroup) => <GroupActions slug={slug} group={group} onChange={() => open(group.id)} />,
          },
        ]),
  ];
}

interface GroupActionsProps {
  readonly slug: string;
  readonly group: ConsoleGroup;
  readonly onChange: () => void;
}

function GroupActions({ slug, group, onChange }: GroupActionsProps) {
  const remove = useAct("groups.remove", { invalidates: afterWorkspaceChange, done: `Group ${group.name} removed.` });
  if (group.managed_by === "file") return null;
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      <Button variant="default" size="compact-xs" aria-label={`Change group ${group.name}`} onClick={onChange}>
        Change
      </Button>
      <ConfirmButton
        title={`Remove group ${group.name}?`}
        verb="Remove group"
        label="Remove"
        size="compact-xs"
        onConfirm={() => remove.mutateAsync({ params: { workspace: slug, group: group.id } })}
      >
        {group.keys === 0
          ? "No key is in it. What its keys used before stays in the ledger."
          : "It has keys: move or revoke those in use first. A group with keys in use is not removed."}
      </ConfirmButton>
    </Group>
  );
}
