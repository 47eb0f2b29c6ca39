import { Group } from "@mantine/core";
import type { Invitation } from "@sluice/contract";
import { useAct } from "../../api/use-act.ts";
import { usePages } from "../../api/use-pages.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { When } from "../../components/figures.tsx";
import { Section } from "../../components/section.tsx";

/** Invitations of administrators that nobody has accepted yet. Without any, nothing is shown. */
export function AdministratorInvitations() {
  const invitations = usePages("invitations.administrators");
  if (invitations.problem === null && (invitations.rows === null || invitations.rows.length === 0)) return null;
  return (
    <Section
      flush
      title="Open invitations"
      description="Of administrators. Each link works once, and only for its address."
    >
      <DataTable
        label="Open invitations"
        columns={columns}
        rows={invitations}
        rowKey={(invitation) => invitation.id}
        empty={null}
      />
    </Section>
  );
}

const columns: readonly Column<Invitation>[] = [
  { id: "email", header: "Address", cell: (invitation) => <span className="break">{invitation.email}</span> },
  { id: "by", header: "Invited by", cell: (invitation) => invitation.invited_by?.email ?? "somebody who is gone" },
  { id: "made", header: "Made", cell: (invitation) => <When at={invitation.created_at} /> },
  { id: "ends", header: "Ends", cell: (invitation) => <When at={invitation.expires_at} /> },
  { id: "do", header: "Actions", quiet: true, align: "right", cell: (invitation) => <TakeBack item={invitation} /> },
];

function TakeBack({ item }: { readonly item: Invitation }) {
  const revoke = useAct("invitations.revoke", {
    invalidates: ["invitations.administrators"],
    done: "Invitation taken back.",
  });
  return (
    <Group justify="flex-end">
      <ConfirmButton
        size="compact-xs"
        title={`Take the invitation of ${item.email} back?`}
        verb="Take back"
        onConfirm={() => revoke.mutateAsync({ params: { invitation: item.id } })}
      >
        Its link stops working at once.
      </ConfirmButton>
    </Group>
  );
}
