import { Button, Group } from "@mantine/core";
import type { ConsoleWorkspace, GroupWithUsage } from "@sluice/contract";
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
import { Grant } from "../../../components/patterns-text.tsx";
import { rowsIn } from "../../../components/rows.ts";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/workspaces.ts";
import { useUrlText } from "../../../routes/search.ts";
import { useSession } from "../../../session/session-context.tsx";
import { budgetWords, limitWords } from "../../keys/limit-words.ts";
import { afterWorkspaceChange } from "../workspace-routes.ts";
import { ExhaustedBudget } from "../workspace-status.tsx";
import { GroupDrawer } from "./group-drawer.tsx";

const newGroup = "new";

/** The groups of a workspace. The URL holds the open one. */
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
      {t("workspaces.group.create")}
    </Button>
  ) : undefined;
  return (
    <Section title={t("workspaces.groups")} description={t("workspaces.group.help")} actions={make} flush>
      <DataTable
        label={t("workspaces.groups")}
        columns={columns}
        rows={rowsIn(query, (answer) => answer.data)}
        rowKey={(group) => group.id}
        pageSize={50}
        empty={
          <EmptyState icon={<IconUsersGroup />} title={t("workspaces.group.empty")} action={make}>
            {t("workspaces.group.emptyHelp")}
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

/** `open` null: read-only. */
function columnsFor(slug: string, open: ((id: string) => void) | null): readonly Column<GroupWithUsage>[] {
  return [
    {
      id: "name",
      header: t("workspaces.name"),
      sortBy: (group) => group.name,
      cell: (group) => (
        <Group gap={6}>
          <Link
            to="/workspaces/$workspace/groups/$group"
            params={{ workspace: slug, group: group.id }}
            search={{ workspace: slug }}
            className="text-link"
          >
            {group.name}
          </Link>
          {group.exhausted_by !== null && (
            <ExhaustedBudget scope={group.exhausted_by === "group" ? "group" : "workspace"} />
          )}
          <ManagedByFile by={group.managed_by} />
        </Group>
      ),
    },
    {
      id: "models",
      header: t("workspaces.models"),
      cell: (group) => <Grant patterns={group.models} enforced={group.enforce_models} shown={4} />,
    },
    {
      id: "limits",
      header: t("workspaces.limits"),
      cell: (group) => limitWords(group.limits) || <Nothing word={t("workspaces.none")} />,
    },
    {
      id: "budget",
      header: t("workspaces.budget"),
      sortBy: (group) => group.budget?.usd ?? null,
      cell: (group) => (group.budget === null ? <Nothing word={t("workspaces.none")} /> : budgetWords(group.budget)),
      align: "right",
    },
    {
      id: "keys",
      header: t("workspaces.keys"),
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
            header: t("workspaces.actions"),
            quiet: true,
            cell: (group: GroupWithUsage) => <GroupActions slug={slug} group={group} onChange={() => open(group.id)} />,
          },
        ]),
  ];
}

interface GroupActionsProps {
  readonly slug: string;
  readonly group: GroupWithUsage;
  readonly onChange: () => void;
}

function GroupActions({ slug, group, onChange }: GroupActionsProps) {
  const remove = useAct("groups.remove", {
    invalidates: afterWorkspaceChange,
    done: t("workspaces.group.removed", { name: group.name }),
  });
  if (group.managed_by === "file") return null;
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      <Button
        variant="default"
        size="compact-xs"
        aria-label={t("workspaces.group.edit", { name: group.name })}
        onClick={onChange}
      >
        {t("workspaces.group.editShort")}
      </Button>
      <ConfirmButton
        title={t("workspaces.group.removeTitle", { name: group.name })}
        verb={t("workspaces.group.removeVerb")}
        label={t("workspaces.remove")}
        size="compact-xs"
        onConfirm={() => remove.mutateAsync({ params: { workspace: slug, group: group.id } })}
      >
        {group.keys === 0 ? t("workspaces.group.removeHelp") : t("workspaces.group.removeBlocked")}
      </ConfirmButton>
    </Group>
  );
}
