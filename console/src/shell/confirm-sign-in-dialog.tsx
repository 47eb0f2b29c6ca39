import { Skeleton, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import type { AuthAccount } from "../api/auth-answers.ts";
import { useClient } from "../api/call-context.tsx";
import { useAuthGet } from "../api/use-auth.ts";
import { callKey } from "../api/use-call.ts";
import { asProblem } from "../client/problem.ts";
import { Modal } from "../components/modal.tsx";
import { noticeProblem } from "../components/notice.tsx";
import { t } from "../language/areas/shell.ts";
import { consoleBase, herePage } from "../session/next-page.ts";
import { ownMethods } from "../session/own-methods.ts";
import { useSession } from "../session/session-context.tsx";
import { SignInForm } from "../session/sign-in-form.tsx";

export default function ConfirmSignInDialog({ onAnswer }: { readonly onAnswer: (confirmed: boolean) => void }) {
  const { user, answer } = useSession();
  const { pathname, searchStr } = useLocation();
  const call = useClient();
  const queries = useQueryClient();
  // Loaded once, because the session that may load it ends during the sign-in.
  const account = useAuthGet<AuthAccount>("/account", { staleMs: Number.POSITIVE_INFINITY });
  const methods = ownMethods(answer.methods, account.data);
  // The passkey may belong to another user. The action must not run as that user.
  const confirm = async () => {
    try {
      const now = await call("session.show");
      queries.setQueryData(callKey("session.show"), now);
      onAnswer(now.user?.id === user.id);
    } catch (thrown) {
      noticeProblem(asProblem(thrown));
      onAnswer(false);
    }
  };
  // While the code is still missing, the previous session has already ended.
  const leave = () => {
    onAnswer(false);
    void queries.invalidateQueries({ queryKey: ["session.show"] });
  };
  return (
    <Modal opened asks={false} onClose={leave} title={t("shell.confirm.title")} size="sm">
      <Stack gap="md">
        <Text size="sm">{t(methods.oidc.length > 0 ? "shell.confirm.helpElsewhere" : "shell.confirm.help")}</Text>
        {account.isPending ? (
          <Skeleton height={36} aria-busy />
        ) : (
          <SignInForm
            methods={methods}
            email={user.email}
            page={consoleBase + herePage(pathname, searchStr)}
            pageStays
            onDone={() => void confirm()}
          />
        )}
      </Stack>
    </Modal>
  );
}
