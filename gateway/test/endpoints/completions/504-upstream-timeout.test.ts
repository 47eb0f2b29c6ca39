import { timeouts } from "../forwarding-suite.ts";
import { completionsEndpoint } from "./endpoint.ts";

timeouts(completionsEndpoint);
