import { PageFrame } from "../../components/page-frame.tsx";
import { t } from "../../language/areas/shell.ts";
import { useSession } from "../../session/session-context.tsx";
import { ForAdministrators } from "../catalog/for-administrators.tsx";
import { UsersTab } from "../settings/users-tab.tsx";

/** All people of the gateway. The members of one workspace are on its page. */
export default function PeoplePage() {
  const { may } = useSession();
  if (!may("administrator")) return <ForAdministrators title={t("shell.pages.people")} />;
  return (
    <PageFrame title={t("shell.pages.people")}>
      <UsersTab />
    </PageFrame>
  );
}
