import { timeouts } from "../forwarding-suite.ts";
import { speechEndpoint } from "./endpoint.ts";

timeouts(speechEndpoint);
