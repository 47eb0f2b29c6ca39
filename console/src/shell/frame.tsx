import type { SessionAnswer } from "@sluice/contract";
import { Navigate, Outlet, useLocation, useMatch, useRouter } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { useCall } from "../api/use-call.ts";
import { useBrand } from "../brand/use-brand.ts";
import { isFormOpen } from "../components/open-form.ts";
import { ProblemAlert } from "../components/problem-alert.tsx";
import { loadChunk } from "../routes/load-chunk.ts";
import { useArrival } from "../session/arrival.tsx";
import { nextPage } from "../session/next-page.ts";
import { SessionProvider } from "../session/session-context.tsx";
import { PageWaiting } from "./page-waiting.tsx";
import { Shell } from "./shell.tsx";
import { SignInFrame } from "./sign-in-frame.tsx";

const SessionEnded = lazy(() => loadChunk(() => import("./session-ended.tsx")));

const signInPath = "/sign-in";
const sessionEveryMs = 300_000;

/** The frame of every page: loads the session and shows only the sign-in page without one. */
export function Frame() {
  const session = useCall("session.show", { everyMs: sessionEveryMs });
  useBrand(session.data?.brand);
  const { last, forget } = useLastSignedIn(session.data);
  const { arrival } = useArrival();
  const { pathname, searchStr, search } = useLocation();
  const isSignIn = pathname === signInPath;
  // The page that is still shown until the next one has loaded: the frame must match it, not only the URL.
  const drawn = useMatch({ from: signInPath, shouldThrow: false }) !== undefined;

  if (session.data === undefined) {
    return (
      <SignInFrame brand={undefined}>
        {session.error === null ? (
          <PageWaiting />
        ) : (
          <ProblemAlert problem={session.error} onRetry={() => void session.refetch()} />
        )}
      </SignInFrame>
    );
  }
  const signedIn = session.data.user !== null;
  // The input of an open form is not lost with the session: the page stays below the sign-in.
  const waiting = !signedIn && !isSignIn && arrival === null && isFormOpen() ? last : null;
  if (!isSignIn && waiting === null && (arrival !== null || !signedIn)) {
    const next = `${pathname}${searchStr}`;
    return <Navigate to={signInPath} search={{ next: next === "/" ? "" : next }} replace />;
  }
  if (isSignIn !== drawn) return <PageWaiting />;
  if (isSignIn) {
    const next = (search as { next?: string }).next ?? "";
    return (
      <SessionProvider answer={session.data}>
        {signedIn && arrival === null ? (
          <GoOn href={nextPage(next)} />
        ) : (
          <SignInFrame brand={session.data.brand}>
            <Outlet />
          </SignInFrame>
        )}
      </SessionProvider>
    );
  }
  return (
    <SessionProvider answer={waiting ?? session.data}>
      <Shell key={(waiting ?? session.data).user?.id}>
        <Outlet />
      </Shell>
      <Suspense>
        {waiting?.user != null && (
          <SessionEnded methods={session.data.methods} email={waiting.user.email} onLeave={forget} />
        )}
      </Suspense>
    </SessionProvider>
  );
}

/** The last answer with a signed-in user; null after a sign-out or after they left the page. */
function useLastSignedIn(now: SessionAnswer | undefined) {
  const [lastSignedIn, setLastSignedIn] = useState<SessionAnswer | null>(null);
  const last = now === undefined ? null : now.user === null ? lastSignedIn : now;
  if (last !== lastSignedIn) setLastSignedIn(last);
  return { last, forget: () => setLastSignedIn(null) };
}

/** Opens the console page given in the URL, with its query. */
function GoOn({ href }: { readonly href: string }) {
  const { history } = useRouter();
  useEffect(() => history.replace(href), [history, href]);
  return <PageWaiting />;
}
