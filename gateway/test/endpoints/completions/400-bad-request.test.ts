import { badRequests } from "../forwarding-suite.ts";
import { completionsEndpoint } from "./endpoint.ts";

badRequests(completionsEndpoint);
