import type { AuthAccount } from "../../api/auth-answers.ts";
import { useAuthGet } from "../../api/use-auth.ts";
import { PageFrame } from "../../components/page-frame.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { t } from "../../language/areas/profile.ts";
import { PageWaiting } from "../../shell/page-waiting.tsx";
import { AgentUsageSection } from "./agent-usage-section.tsx";
import { AgentsSection } from "./agents-section.tsx";
import { ConnectionsSection } from "./connections-section.tsx";
import { PasskeysSection } from "./passkeys-section.tsx";
import { PasswordSection } from "./password-section.tsx";
import { SessionsSection } from "./sessions-section.tsx";
import { TwoFactorSection } from "./two-factor-section.tsx";
import { YouSection } from "./you-section.tsx";

/** The user's profile and sign-in methods. */
export default function ProfilePage() {
  const account = useAuthGet<AuthAccount>("/account");
  return (
    <PageFrame title={t("profile.title")} description={t("profile.description")}>
      {account.isPending && <PageWaiting />}
      {account.error !== null && <ProblemAlert problem={account.error} onRetry={() => void account.refetch()} />}
      {account.data !== undefined && (
        <>
          <YouSection />
          {account.data.password && <PasswordSection />}
          {account.data.password && <TwoFactorSection on={account.data.two_factor} />}
          <PasskeysSection />
          <ConnectionsSection connections={account.data.connections} />
          <SessionsSection />
          <AgentsSection />
          <AgentUsageSection />
        </>
      )}
    </PageFrame>
  );
}
