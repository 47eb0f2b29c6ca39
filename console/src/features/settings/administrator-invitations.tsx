import { Group } from "@mantine/core";
import type { Invitation } from "@sluice/contract";
import { useAct } from "../../api/use-act.ts";
import { usePages } from "../../api/use-pages.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { When } from "../../components/figures.tsx";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/settings.ts";

/** Pending invitations of administrators. Renders nothing without any. */
export function AdministratorInvitations() {
  const invitations = usePages("invitations.administrators");
  if (invitations.problem === null && (invitations.rows === null || invitations.rows.length === 0)) return null;
  return (
    <Section flush title={t("settings.invitations.title")} description={t("settings.invitations.help")}>
      <DataTable
        label={t("settings.invitations.title")}
        columns={columns}
        rows={invitations}
        rowKey={(invitation) => invitation.id}
        empty={null}
      />
    </Section>
  );
}

const columns: readonly Column<Invitation>[] = [
  {
    id: "email",
    header: t("settings.invitations.address"),
    cell: (invitation) => <span className="break">{invitation.email}</span>,
  },
  {
    id: "by",
    header: t("settings.invitations.by"),
    cell: (invitation) => invitation.invited_by?.email ?? t("settings.invitations.gone"),
  },
  { id: "made", header: t("settings.created"), cell: (invitation) => <When at={invitation.created_at} /> },
  { id: "ends", header: t("settings.expires"), cell: (invitation) => <When at={invitation.expires_at} /> },
  {
    id: "do",
    header: t("settings.actions"),
    quiet: true,
    align: "right",
    cell: (invitation) => <TakeBack item={invitation} />,
  },
];

function TakeBack({ item }: { readonly item: Invitation }) {
  const revoke = useAct("invitations.revoke", {
    invalidates: ["invitations.administrators"],
    done: t("settings.invitations.revoked"),
  });
  return (
    <Group justify="flex-end">
      <ConfirmButton
        size="compact-xs"
        title={t("settings.invitations.revokeTitle", { email: item.email })}
        verb={t("settings.invitations.revoke")}
        onConfirm={() => revoke.mutateAsync({ params: { invitation: item.id } })}
      >
        {t("settings.invitations.revokeHelp")}
      </ConfirmButton>
    </Group>
  );
}
