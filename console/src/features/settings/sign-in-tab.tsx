import { Code, Skeleton, Stack, Text } from "@mantine/core";
import { useCall } from "../../api/use-call.ts";
import { CodeBlock } from "../../components/code-block.tsx";
import { Facts } from "../../components/facts.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Section } from "../../components/section.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/settings.ts";
import { OidcSection } from "./oidc-section.tsx";

/** How people sign in, and how they are written to. */
export function SignInTab() {
  const settings = useCall("settings.show");
  if (settings.error !== null && settings.data === undefined) {
    return <ProblemAlert problem={settings.error} onRetry={() => void settings.refetch()} />;
  }
  return (
    <Stack gap="lg">
      <OidcSection accounts={settings.data?.oidc ?? null} />
      <Section title={t("settings.otherWaysIn")} description={t("settings.everybodySetsTheseUpFor")}>
        <Facts
          facts={[
            { name: "Password", value: t("settings.atLeast12CharactersSlowed") },
            { name: "Two-factor", value: t("settings.codesOfAnAuthenticatorApp") },
            { name: "Passkeys", value: t("settings.fingerprintFacePinOrSecurity") },
          ]}
        />
      </Section>
      {settings.data === undefined ? <Skeleton height={130} /> : <MailSection from={settings.data.mail.from} />}
    </Stack>
  );
}

function MailSection({ from }: { readonly from: string | null }) {
  return (
    <Section title={t("settings.mail")} description={t("settings.invitationsAndNoticesOnBudgets")}>
      {from === null ? (
        <Stack gap="sm">
          <div>
            <StatusBadge status="not set up" tone="off" />
          </div>
          <Text fz="sm">
            Set these in the environment and start the gateway again. <Code>smtps://</Code> is encrypted from the start.
          </Text>
          <CodeBlock code={mailVariables} label={t("settings.variablesForMail")} wrap />
        </Stack>
      ) : (
        <Facts facts={[{ name: "Sent from", value: from }]} />
      )}
    </Section>
  );
}

const mailVariables = [
  "SLUICE_SMTP_URL=smtps://user:password@mail.example.com:465",
  "SLUICE_MAIL_FROM=sluice@example.com",
].join("\n");
