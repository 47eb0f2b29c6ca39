import { Button, Stack } from "@mantine/core";
import type { ConsoleWorkspace } from "@sluice/contract";
import { IconUserPlus, IconUsers } from "@tabler/icons-react";
import { useMemo } from "react";
import { useCall } from "../../../api/use-call.ts";
import { DataTable } from "../../../components/data-table.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { rowsIn } from "../../../components/rows.ts";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/workspaces.ts";
import { useUrlText } from "../../../routes/search.ts";
import { heldIn, useSession } from "../../../session/session-context.tsx";
import { InvitationsSection } from "./invitations-section.tsx";
import { InviteDialog } from "./invite-dialog.tsx";
import { memberColumns } from "./member-columns.tsx";
import { MemberDrawer } from "./member-drawer.tsx";
import { RolesSection } from "./roles-section.tsx";

/** The members of a workspace with their roles. */
export function MembersTab({ workspace }: { readonly workspace: ConsoleWorkspace }) {
  const { answer, user, may } = useSession();
  const { slug } = workspace;
  const held = heldIn(answer, slug);
  const mayManage = may("admin", slug);
  const [invite, setInvite] = useUrlText("invite");
  const query = useCall("members.list", { params: { workspace: slug } });
  const invitations = useCall("invitations.list", { params: { workspace: slug }, enabled: mayManage });
  const isLoaded = !query.isPending && !(mayManage && invitations.isPending);
  const [limited, limit] = useUrlText("limits");
  const columns = useMemo(
    () => memberColumns({ workspace, held, me: user.id, limit }),
    [workspace, held, user.id, limit],
  );
  const opened = mayManage ? query.data?.data.find((member) => member.id === limited) : undefined;
  const inviteButton = mayManage ? (
    <Button leftSection={<IconUserPlus size={14} aria-hidden />} onClick={() => setInvite("1")}>
      {t("workspaces.member.invite")}
    </Button>
  ) : undefined;
  return (
    <Stack gap="lg">
      <Section
        title={t("workspaces.members")}
        description={t("workspaces.member.help")}
        actions={query.data?.data.length !== 0 && inviteButton}
        flush
      >
        <DataTable
          label={t("workspaces.members")}
          columns={columns}
          rows={rowsIn(query, (page) => page.data)}
          rowKey={(member) => member.id}
          name="members"
          pageSize={50}
          dimmed={(member) => member.disabled}
          empty={
            <EmptyState icon={<IconUsers />} title={t("workspaces.member.empty")} action={inviteButton}>
              {t("workspaces.member.emptyHelp")}
            </EmptyState>
          }
        />
      </Section>
      {/* Rendered together, so that content does not move when one of them is loaded later. */}
      {isLoaded && mayManage && <InvitationsSection workspace={slug} held={held} />}
      {isLoaded && <RolesSection />}
      {opened !== undefined && (
        <MemberDrawer key={opened.id} workspace={workspace} member={opened} onClose={() => limit("")} />
      )}
      {invite !== "" && mayManage && <InviteDialog workspace={workspace} held={held} onClose={() => setInvite("")} />}
    </Stack>
  );
}
