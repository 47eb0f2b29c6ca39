import { Link } from "@tanstack/react-router";
import { PageFrame } from "../../components/page-frame.tsx";
import { t } from "../../language/areas/profile.ts";
import { useSession } from "../../session/session-context.tsx";
import { useWorkspace } from "../../session/workspace.ts";
import { AgentsSection } from "../profile/agents-section.tsx";
import { OwnKeysSection } from "./own-keys-section.tsx";
import { PersonLimits } from "./person-limits.tsx";
import { SpendSection } from "./spend-section.tsx";

/** The user's spend in the selected workspace, the limits that apply, and the keys that spend. */
export default function OwnUsagePage() {
  const { user } = useSession();
  const { none, slug, path } = useWorkspace();
  return (
    <PageFrame
      title={t("profile.own.title")}
      description={
        <>
          {slug === null ? t("profile.own.help") : t("profile.own.helpIn", { workspace: slug })}{" "}
          <Link to="/profile" className="text-link">
            {t("profile.own.sessions")}
          </Link>
        </>
      }
    >
      {!none && (
        <>
          <SpendSection workspace={path} of={{ person: user.id }} />
          <PersonLimits
            workspace={path}
            person={user.id}
            help={t("profile.own.limits.help")}
            empty={t("profile.own.limits.empty")}
          />
          <OwnKeysSection />
        </>
      )}
      <AgentsSection />
    </PageFrame>
  );
}
