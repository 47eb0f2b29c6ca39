import { Link } from "@tanstack/react-router";
import { PageFrame } from "../../components/page-frame.tsx";
import { t } from "../../language/areas/profile.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { AgentsSection } from "../profile/agents-section.tsx";
import { OwnKeysSection } from "./own-keys-section.tsx";
import { OwnLimitsSection } from "./own-limits-section.tsx";
import { SpendSection } from "./spend-section.tsx";

/** The user's spend in the selected workspace, the limits that apply, and the keys that spend. */
export default function OwnUsagePage() {
  const { none, slug } = useWorkspace();
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
          <SpendSection />
          <OwnLimitsSection />
          <OwnKeysSection />
        </>
      )}
      <AgentsSection />
    </PageFrame>
  );
}
