import { Navigate, Outlet, useLocation, useMatch, useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { useCall } from "../api/use-call.ts";
import { ProblemAlert } from "../components/problem-alert.tsx";
import { useArrival } from "../session/arrival.tsx";
import { nextPage } from "../session/next-page.ts";
import { SessionProvider } from "../session/session-context.tsx";
import { PageWaiting } from "./page-waiting.tsx";
import { Shell } from "./shell.tsx";
import { SignInFrame } from "./sign-in-frame.tsx";

const signInPath = "/sign-in";
const sessionEveryMs = 300_000;

/** Around every page: asks who is there, and shows the sign-in page alone to whoever is not signed in. */
export function Frame() {
  const session = useCall("session.show", { everyMs: sessionEveryMs });
  const { arrival } = useArrival();
  const { pathname, searchStr, search } = useLocation();
  const asked = pathname === signInPath;
  // The page that stands there until the next one has come: what is drawn must fit it, not the address alone.
  const drawn = useMatch({ from: signInPath, shouldThrow: false }) !== undefined;

  if (session.data === undefined) {
    return (
      <SignInFrame>
        {session.error === null ? (
          <PageWaiting />
        ) : (
          <ProblemAlert problem={session.error} onRetry={() => void session.refetch()} />
        )}
      </SignInFrame>
    );
  }
  const signedIn = session.data.user !== null;
  if (!asked && (arrival !== null || !signedIn)) {
    const next = `${pathname}${searchStr}`;
    return <Navigate to={signInPath} search={{ next: next === "/" ? "" : next }} replace />;
  }
  if (asked !== drawn) return <PageWaiting />;
  if (asked) {
    const next = (search as { next?: string }).next ?? "";
    return (
      <SessionProvider answer={session.data}>
        {signedIn && arrival === null ? (
          <GoOn href={nextPage(next)} />
        ) : (
          <SignInFrame>
            <Outlet />
          </SignInFrame>
        )}
      </SessionProvider>
    );
  }
  return (
    <SessionProvider answer={session.data}>
      <Shell>
        <Outlet />
      </Shell>
    </SessionProvider>
  );
}

/** To an address of the console that came in the address, its search included. */
function GoOn({ href }: { readonly href: string }) {
  const { history } = useRouter();
  useEffect(() => history.replace(href), [history, href]);
  return <PageWaiting />;
}
