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
import { roleWords } from "../role-words.ts";

interface InvitationsSectionProps {
  readonly workspace: string;
  readonly held: Need;
}

/** Invitations that nobody has accepted yet. Left out while there are none. */
export function InvitationsSection({ workspace, held }: InvitationsSectionProps) {
  const query = useCall("invitations.list", { params: { workspace } });
  const columns = useMemo(() => columnsFor(held), [held]);
  if (query.error === null && (query.data === undefined || query.data.data.length === 0)) return null;
  return (
    <Section
      title="Open invitations"
      description="Their links were shown once. To send another, take the invitation back and invite again."
      flush
    >
      <DataTable
        label="Open invitations"
        columns={columns}
        rows={rowsIn(query, (page) => page.data)}
        rowKey={(invitation) => invitation.id}
        empty="None"
      />
    </Section>
  );
}

function columnsFor(held: Need): readonly Column<Invitation>[] {
  return [
    { id: "email", header: "E-mail", sortBy: (invitation) => invitation.email, cell: (invitation) => invitation.email },
    {
      id: "role",
      header: "Role",
      cell: ({ role }) => (role === null ? "Administrator" : roleWords[role].label),
    },
    {
      id: "by",
      header: "Invited by",
      cell: ({ invited_by: by }) => (by === null ? "somebody who is gone" : by.name || by.email),
    },
    { id: "expires", header: "Ends", cell: (invitation) => <When at={invitation.expires_at} />, align: "right" },
    {
      id: "do",
      header: "Actions",
      quiet: true,
      cell: (invitation) => (meets(held, invitation.role ?? "administrator") ? <TakeBack item={invitation} /> : null),
    },
  ];
}

function TakeBack({ item }: { readonly item: Invitation }) {
  const revoke = useAct("invitations.revoke", { invalidates: ["invitations.list"], done: "Invitation taken back." });
  return (
    <ConfirmButton
      title={`Take back the invitation of ${item.email}?`}
      verb="Take back"
      size="compact-xs"
      onConfirm={() => revoke.mutateAsync({ params: { invitation: item.id } })}
    >
      Its link stops working. You can invite them again.
    </ConfirmButton>
  );
}
