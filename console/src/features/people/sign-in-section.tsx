import { Stack, Text } from "@mantine/core";
import type { PersonDetail } from "@sluice/contract";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Facts } from "../../components/facts.tsx";
import { Nothing, When } from "../../components/figures.tsx";
import { rowsOf } from "../../components/rows.ts";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/people.ts";
import { t as profile } from "../../language/areas/profile.ts";
import { browserName } from "../profile/browser-name.ts";

type SignIn = NonNullable<PersonDetail["sign_in"]>;
type Session = SignIn["sessions"][number];

/** How a person signs in to the console, and where they are signed in. */
export function SignInSection({ signIn }: { readonly signIn: SignIn }) {
  return (
    <Section title={t("people.signIn.title")} description={t("people.signIn.help")}>
      <Stack gap="md">
        <Facts
          facts={[
            { name: t("people.signIn.lastSeen"), value: <When at={signIn.last_seen_at} /> },
            {
              name: t("people.signIn.authenticator"),
              value: signIn.two_factor ? t("people.signIn.yes") : t("people.signIn.no"),
            },
            { name: t("people.signIn.passkeys"), value: signIn.passkeys },
            {
              name: t("people.signIn.sources"),
              value: signIn.sources.length === 0 ? <Nothing /> : signIn.sources.map(({ source }) => source).join(", "),
            },
          ]}
        />
        <DataTable
          label={t("people.signIn.sessions")}
          columns={columns}
          rows={rowsOf(signIn.sessions)}
          rowKey={(session) => `${session.created_at} ${session.ip} ${session.user_agent}`}
          empty={
            <Text ta="center" c="dimmed" fz="sm" py="md">
              {t("people.signIn.noSessions")}
            </Text>
          }
        />
      </Stack>
    </Section>
  );
}

const columns: readonly Column<Session>[] = [
  {
    id: "browser",
    header: profile("profile.sessions.browser"),
    cell: ({ user_agent: agent }) => <span title={agent ?? undefined}>{browserName(agent)}</span>,
  },
  {
    id: "ip",
    header: profile("profile.sessions.address"),
    cell: ({ ip }) => (ip === null ? <Nothing /> : <code>{ip}</code>),
  },
  { id: "made", header: profile("profile.sessions.signedIn"), cell: (session) => <When at={session.created_at} /> },
  { id: "seen", header: profile("profile.sessions.lastSeen"), cell: (session) => <When at={session.seen_at} /> },
  { id: "ends", header: profile("profile.sessions.ends"), cell: (session) => <When at={session.ends_at} /> },
];
