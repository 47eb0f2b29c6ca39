import { badRequests } from "../forwarding-suite.ts";
import { speechEndpoint } from "./endpoint.ts";

badRequests(speechEndpoint);
