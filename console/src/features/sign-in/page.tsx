import { Anchor } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { Rich, t } from "../../language/areas/sign-in.ts";
import { useUrlText } from "../../routes/search.ts";
import { useArrival } from "../../session/arrival.tsx";
import { nextPage } from "../../session/next-page.ts";
import { useSessionAnswer } from "../../session/session-context.tsx";
import { SignInForm } from "../../session/sign-in-form.tsx";
import { CameBack } from "./came-back.tsx";
import { Card } from "./card.tsx";
import { InviteView } from "./invite-view.tsx";
import { ResetView } from "./reset-view.tsx";
import { SetupView } from "./setup-view.tsx";

/** The sign-in page, and the pages of one-time links: first administrator, invitation, new password. */
export default function SignInPage() {
  const answer = useSessionAnswer();
  useDocumentTitle(t("signIn.pageTitle", { product: answer.brand.name }));
  const { arrival } = useArrival();
  const queries = useQueryClient();
  const [next] = useUrlText("next");
  // After single sign-on, the gateway redirects users with a second factor here.
  const [step] = useUrlText("step");
  const signedIn = () => void queries.invalidateQueries({ queryKey: ["session.show"] });

  if (arrival?.kind === "setup" || (answer.setup_needed && arrival === null)) {
    return <SetupView token={arrival?.token ?? null} onSignedIn={signedIn} />;
  }
  if (arrival?.kind === "invite") return <InviteView token={arrival.token} onSignedIn={signedIn} />;
  if (arrival?.kind === "reset") return <ResetView token={arrival.token} onSignedIn={signedIn} />;
  return (
    <Card
      title={t("signIn.title")}
      foot={
        <Rich
          text="signIn.foot"
          tags={{
            link: (inside) => (
              <Anchor href="/docs" size="xs" underline="always">
                {inside}
              </Anchor>
            ),
          }}
        />
      }
    >
      <CameBack />
      <SignInForm
        methods={answer.methods}
        page={nextPage(next)}
        firstStep={step === "code" ? "code" : "password"}
        onDone={signedIn}
      />
    </Card>
  );
}
