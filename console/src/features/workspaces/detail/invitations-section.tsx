import type { Invitation, Need } from "@sluice/contract";
import { meets } from "@sluice/contract";
import { useMemo } from "react";
import { useAct } from "../../../api/use-act.ts";
import { useCall } from "../../../api/use-call.ts";
import { ConfirmButton } from "../../../components/confirm-button.tsx";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { When } from "../../../components/figures.tsx";
import { rowsIn } from "../../../components/rows.ts";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/workspaces.ts";
import { roleWords } from "../role-words.ts";

interface InvitationsSectionProps {
  readonly workspace: string;
  readonly held: Need;
}

/** Pending invitations. Hidden without any. */
export function InvitationsSection({ workspace, held }: InvitationsSectionProps) {
  const query = useCall("invitations.list", { params: { workspace } });
  const columns = useMemo(() => columnsFor(held), [held]);
  if (query.error === null && (query.data === undefined || query.data.data.length === 0)) return null;
  return (
    <Section title={t("workspaces.invitation.title")} description={t("workspaces.invitation.help")} flush>
      <DataTable
        label={t("workspaces.invitation.title")}
        columns={columns}
        rows={rowsIn(query, (page) => page.data)}
        rowKey={(invitation) => invitation.id}
        empty={t("workspaces.none")}
      />
    </Section>
  );
}

function columnsFor(held: Need): readonly Column<Invitation>[] {
  return [
    {
      id: "email",
      header: t("workspaces.email"),
      sortBy: (invitation) => invitation.email,
      cell: (invitation) => invitation.email,
    },
    {
      id: "role",
      header: t("workspaces.role.title"),
      cell: ({ role }) => (role === null ? t("workspaces.role.administrator") : roleWords[role].label),
    },
    {
      id: "by",
      header: t("workspaces.invitation.by"),
      cell: ({ invited_by: by }) => (by === null ? t("workspaces.invitation.byGone") : by.name || by.email),
    },
    {
      id: "expires",
      header: t("workspaces.invitation.expires"),
      cell: (invitation) => <When at={invitation.expires_at} />,
      align: "right",
    },
    {
      id: "do",
      header: t("workspaces.actions"),
      quiet: true,
      cell: (invitation) => (meets(held, invitation.role ?? "administrator") ? <TakeBack item={invitation} /> : null),
    },
  ];
}

function TakeBack({ item }: { readonly item: Invitation }) {
  const revoke = useAct("invitations.revoke", {
    invalidates: ["invitations.list"],
    done: t("workspaces.invitation.revoked"),
  });
  return (
    <ConfirmButton
      title={t("workspaces.invitation.revokeTitle", { email: item.email })}
      verb={t("workspaces.invitation.revoke")}
      size="compact-xs"
      onConfirm={() => revoke.mutateAsync({ params: { invitation: item.id } })}
    >
      {t("workspaces.invitation.revokeHelp")}
    </ConfirmButton>
  );
}
