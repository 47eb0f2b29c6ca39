import { badRequests } from "../forwarding-suite.ts";
import { decisionsEndpoint } from "./endpoint.ts";

badRequests(decisionsEndpoint);
