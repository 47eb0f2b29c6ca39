import { Code, Skeleton, Stack, Text } from "@mantine/core";
import { useCall } from "../../api/use-call.ts";
import { CodeBlock } from "../../components/code-block.tsx";
import { Facts } from "../../components/facts.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Section } from "../../components/section.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { Rich, t } from "../../language/areas/settings.ts";
import { OidcSection } from "./oidc-section.tsx";
import { RulesSection } from "./rules/rules-section.tsx";
import { ScimSection } from "./scim-section.tsx";

/** Settings for sign-in and mail. */
export function SignInTab() {
  const settings = useCall("settings.show");
  if (settings.error !== null && settings.data === undefined) {
    return <ProblemAlert problem={settings.error} onRetry={() => void settings.refetch()} />;
  }
  return (
    <Stack gap="lg">
      <OidcSection accounts={settings.data?.oidc ?? null} />
      <ScimSection />
      <RulesSection accounts={settings.data?.oidc ?? null} />
      <Section title={t("settings.signIn.others")} description={t("settings.signIn.othersHelp")}>
        <Facts
          facts={[
            { name: t("settings.signIn.password"), value: t("settings.signIn.passwordHelp") },
            { name: t("settings.signIn.twoFactor"), value: t("settings.signIn.twoFactorHelp") },
            { name: t("settings.signIn.passkeys"), value: t("settings.signIn.passkeysHelp") },
          ]}
        />
      </Section>
      {settings.data === undefined ? <Skeleton height={130} /> : <MailSection from={settings.data.mail.from} />}
    </Stack>
  );
}

function MailSection({ from }: { readonly from: string | null }) {
  return (
    <Section title={t("settings.mail.title")} description={t("settings.mail.help")}>
      {from === null ? (
        <Stack gap="sm">
          <div>
            <StatusBadge status="not_set_up" tone="off" />
          </div>
          <Text fz="sm">
            <Rich text="settings.mail.howTo" tags={{ code: (inside) => <Code>{inside}</Code> }} />
          </Text>
          <CodeBlock code={mailVariables} label={t("settings.mail.variables")} wrap />
        </Stack>
      ) : (
        <Facts facts={[{ name: t("settings.mail.from"), value: from }]} />
      )}
    </Section>
  );
}

const mailVariables = [
  "SLUICE_SMTP_URL=smtps://user:password@mail.example.com:465",
  "SLUICE_MAIL_FROM=sluice@example.com",
].join("\n");
