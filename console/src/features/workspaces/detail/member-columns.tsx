import { Button, Group, Select, Tooltip } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import {
  type ConsoleWorkspace,
  everyWorkspace,
  type MemberWithUsage,
  meets,
  type Need,
  type WorkspaceRole,
  workspaceRoles,
} from "@sluice/contract";
import { useNavigate } from "@tanstack/react-router";
import { useAct } from "../../../api/use-act.ts";
import type { Column } from "../../../components/data-table.tsx";
import { Nothing, When } from "../../../components/figures.tsx";
import { noticeUndo } from "../../../components/notice.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/workspaces.ts";
import { budgetWords, limitWords } from "../../keys/limit-words.ts";
import { LeaverDialog } from "../../people/leaver-dialog.tsx";
import { PersonLink } from "../../people/person-link.tsx";
import { rolesUpTo, roleWords } from "../role-words.ts";
import { afterWorkspaceChange } from "../workspace-routes.ts";
import { ExhaustedBudget } from "../workspace-status.tsx";

interface Looker {
  readonly workspace: ConsoleWorkspace;
  /** The current user's role in this workspace. */
  readonly held: Need;
  /** Their id. */
  readonly me: string;
  /** Opens the limits of a member, by ID. */
  readonly limit: (userId: string) => void;
}

export function memberColumns(looker: Looker): readonly Column<MemberWithUsage>[] {
  return [
    {
      id: "name",
      header: t("workspaces.name"),
      sortBy: (member) => nameOf(member).toLowerCase(),
      cell: (member) => (
        <span className="key-name">
          <PersonLink
            person={member}
            workspace={looker.workspace.slug}
            text={member.id === looker.me ? t("workspaces.member.you", { name: nameOf(member) }) : nameOf(member)}
          />{" "}
          {member.disabled && <StatusBadge status="disabled" />}
          {member.exhausted_by === "person" && <ExhaustedBudget scope="person" />}
          <small>{member.email}</small>
        </span>
      ),
    },
    {
      id: "role",
      header: t("workspaces.role.title"),
      width: "11rem",
      sortBy: (member) => workspaceRoles.indexOf(member.role),
      cell: (member) => <RoleSelect member={member} looker={looker} />,
    },
    {
      id: "limits",
      header: t("workspaces.limits"),
      cell: (member) => limitWords(member.limits) || <Nothing word={t("workspaces.none")} />,
    },
    {
      id: "budget",
      header: t("workspaces.budget"),
      sortBy: (member) => member.budget?.usd ?? null,
      cell: (member) => (member.budget === null ? <Nothing word={t("workspaces.none")} /> : budgetWords(member.budget)),
      align: "right",
    },
    {
      id: "since",
      header: t("workspaces.member.since"),
      sortBy: (member) => member.since,
      cell: (member) => <When at={member.since} />,
      align: "right",
    },
    {
      id: "do",
      header: t("workspaces.actions"),
      quiet: true,
      cell: (member) => (
        <Group gap={4} justify="flex-end" wrap="nowrap">
          {meets(looker.held, "admin") && meets(looker.held, member.role) && (
            <Button
              variant="default"
              size="compact-xs"
              aria-label={t("workspaces.member.limitOf", { name: nameOf(member) })}
              onClick={() => looker.limit(member.id)}
            >
              {t("workspaces.member.limit")}
            </Button>
          )}
          <RemoveMember member={member} looker={looker} />
        </Group>
      ),
    },
  ];
}

interface MemberProps {
  readonly member: MemberWithUsage;
  readonly looker: Looker;
}

function RoleSelect({ member, looker: { workspace, held } }: MemberProps) {
  const update = useAct("members.update", { invalidates: afterWorkspaceChange });
  const { label } = roleWords[member.role];
  if (!meets(held, "admin")) return <>{label}</>;
  if (!meets(held, member.role)) {
    return (
      <Tooltip label={t("workspaces.member.roleAbove")}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the reason must be reachable by keyboard. */}
        <span tabIndex={0}>{label}</span>
      </Tooltip>
    );
  }
  const give = async (role: WorkspaceRole, undo: boolean) => {
    await update.mutateAsync({ params: { workspace: workspace.slug, user: member.id }, body: { role } });
    const words = t("workspaces.member.roleChanged", { name: nameOf(member), role });
    if (undo) noticeUndo(words, () => void give(member.role, false).catch(() => undefined));
  };
  return (
    <Select
      size="xs"
      aria-label={t("workspaces.member.roleOf", { name: nameOf(member) })}
      data={rolesUpTo(held).map((role) => ({ value: role, label: roleWords[role].label }))}
      value={member.role}
      allowDeselect={false}
      disabled={update.isPending}
      onChange={(value) => {
        const role = workspaceRoles.find((each) => each === value);
        // The caller shows errors in a notice.
        if (role !== undefined && role !== member.role) void give(role, true).catch(() => undefined);
      }}
    />
  );
}

function RemoveMember({ member, looker: { workspace, held, me } }: MemberProps) {
  const navigate = useNavigate();
  const self = member.id === me;
  const [opened, { open, close }] = useDisclosure(false);
  const remove = useAct("members.remove", {
    invalidates: afterWorkspaceChange,
    done: self
      ? t("workspaces.member.left", { name: workspace.name })
      : t("workspaces.member.removed", { name: nameOf(member) }),
  });
  if (!self && !(meets(held, "admin") && meets(held, member.role))) return null;
  const name = nameOf(member);
  return (
    <>
      <Button variant="default" size="compact-xs" onClick={open}>
        {self ? t("workspaces.member.leave") : t("workspaces.remove")}
      </Button>
      <LeaverDialog
        leaver={member}
        workspace={workspace.slug}
        keepsSpend={!meets(held, "admin")}
        opened={opened}
        onClose={close}
        title={
          self
            ? t("workspaces.member.leaveTitle", { name: workspace.name })
            : t("workspaces.member.removeTitle", { name, workspace: workspace.name })
        }
        verb={self ? t("workspaces.member.leaveVerb") : t("workspaces.member.removeVerb")}
        onConfirm={async (keys) => {
          await remove.mutateAsync({ params: { workspace: workspace.slug, user: member.id }, body: { keys } });
          if (self && held !== "administrator")
            await navigate({ to: "/workspaces", search: { workspace: everyWorkspace } });
        }}
      >
        {self ? t("workspaces.member.leaveHelp") : t("workspaces.member.removeHelp")}
      </LeaverDialog>
    </>
  );
}

export function nameOf({ name, email }: Pick<MemberWithUsage, "name" | "email">): string {
  return name || email;
}
