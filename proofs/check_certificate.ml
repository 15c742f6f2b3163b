(* Reads a program and its certificate, and asks the checker that Coq proved (certificate.v).

   check_certificate PROGRAM CERTIFICATE

   Prints "holds" or "does not hold". This file is not proved: it reads JSON, knows the links of the
   networks, and cuts routes into channels. *)

type json = Null | Bool of bool | Int of int | Text of string | List of json list
          | Object of (string * json) list

let parse text =
  let at = ref 0 in
  let peek () = text.[!at] in
  let rec skip () =
    if !at < String.length text && String.contains " \n\t\r" (peek ()) then (incr at; skip ()) in
  let expect c = skip (); if peek () <> c then failwith "JSON" else incr at in
  let word w value = at := !at + String.length w; value in
  let string () =
    expect '"';
    let from = !at in
    while peek () <> '"' do incr at done;
    incr at;
    String.sub text from (!at - 1 - from) in
  let rec value () =
    skip ();
    match peek () with
    | '{' -> incr at; Object (items '}' (fun () -> let k = string () in expect ':'; (k, value ())))
    | '[' -> incr at; List (items ']' value)
    | '"' -> Text (string ())
    | 't' -> word "true" (Bool true)
    | 'f' -> word "false" (Bool false)
    | 'n' -> word "null" Null
    | _ ->
      let from = !at in
      while String.contains "-0123456789" (peek ()) do incr at done;
      Int (int_of_string (String.sub text from (!at - from)))
  and items : 'a. char -> (unit -> 'a) -> 'a list = fun close one ->
    skip ();
    if peek () = close then (incr at; [])
    else
      let rec more found =
        let found = one () :: found in
        skip ();
        if peek () = ',' then (incr at; more found) else (expect close; List.rev found) in
      more [] in
  value ()

let find key = function Object l -> (try List.assoc key l with Not_found -> Null) | _ -> Null
let int = function Int i -> i | _ -> failwith "a number is missing"
let list = function List l -> l | Null -> [] | _ -> failwith "a list is missing"
(* The list functions of OCaml 4 overflow the stack on the lists of a million channels. *)
let map f l = List.rev (List.rev_map f l)
let ints each = map int (list each)

(* The node and the port behind an output port, as in docs/router.md, sections 0 and 8. *)
let links network certificate =
  let topology = find "topology" network in
  let faulty = ints (find "faulty_nodes" topology) in
  let gone = List.map ints (list (find "faulty_links" topology)) in
  let listed = Hashtbl.create 16 in
  List.iter (fun l -> match ints l with
      | [a; p; b; _] -> Hashtbl.replace listed (a, p) b
      | _ -> failwith "links") (list (find "links" certificate));
  let table = Array.of_list
      (map (fun l -> Array.of_list (ints l)) (list (find "neighbor" topology))) in
  let dims = match find "dims" topology with
    | Null -> (match find "nodes" topology with Int n -> [| n |] | _ -> [||])
    | dims -> Array.of_list (ints dims) in
  let grid wraps node port =
    let axis, down = (port - 1) / 2, (port - 1) mod 2 in
    if port < 1 || axis >= Array.length dims then None
    else
      let below = Array.fold_left ( * ) 1 (Array.sub dims 0 axis) and side = dims.(axis) in
      let x = node / below mod side in
      let to_ = x + 1 - 2 * down in
      let to_ = if wraps && side > 1 then (to_ + side) mod side else to_ in
      if to_ < 0 || to_ >= side then None else Some (node + (to_ - x) * below) in
  let far = match find "kind" topology, find "host" topology with
    | Text ("mesh" | "line"), Null -> grid false
    | Text ("torus" | "ring"), Null -> grid true
    | Text "hypercube", Null -> fun node port ->
      if port < 1 || port > int (find "dimension" topology) then None
      else Some (node lxor (1 lsl (port - 1)))
    | Text "graph", Null -> fun node port ->
      if port < 1 || port >= Array.length table.(node) || table.(node).(port) < 0 then None
      else Some table.(node).(port)
    | _ -> fun node port -> Hashtbl.find_opt listed (node, port) in
  fun node port -> match far node port with
    | Some to_ when List.mem node faulty || List.mem to_ faulty || List.mem [node; to_] gone -> None
    | found -> found

let rec positive i =
  if i = 1 then Checker.XH
  else if i land 1 = 1 then Checker.XI (positive (i lsr 1)) else Checker.XO (positive (i lsr 1))
let number i = if i = 0 then Checker.N0 else Checker.Npos (positive i)
let rec small = function
  | Checker.XH -> 1
  | Checker.XO p -> 2 * small p
  | Checker.XI p -> 2 * small p + 1
let integer = function Checker.N0 -> 0 | Checker.Npos p -> small p

let channel (node, port, vc) = ((number node, number port), number vc)

(* The packet of a row: a channel for each hop, and the ejection behind the last one. *)
let packet far node row =
  if find "stream" row <> Null then failwith "a row that streams";
  let hops = List.concat_map (fun segment -> match ints segment with
      | [port; hops; vc] when hops > 0 -> List.init hops (fun _ -> (port, vc))
      | _ -> failwith "a segment") (list (find "route" row)) in
  if hops = [] then failwith "a route has no hop";
  let rec go here = function
    | [] -> (here, [])
    | (port, vc) :: rest ->
      let next = match far here port with Some next -> next | None -> here in
      let target, channels = go next rest in
      (target, (here, port, vc) :: channels) in
  let target, channels = go node hops in
  let _, vc = List.nth hops (List.length hops - 1) in
  { Checker.source = number node; target = number target;
    channels = List.map channel (channels @ [(target, 0, vc)]) }

let read name =
  let file = open_in_bin name in
  parse (really_input_string file (in_channel_length file))

let () =
  let program, certificate = read Sys.argv.(1), read Sys.argv.(2) in
  let far = links (find "network" program) certificate in
  let rank = Hashtbl.create 1024 in
  List.iteri (fun i c -> match ints c with
      | [node; port; vc] -> Hashtbl.replace rank (node, port, vc) (number i)
      | _ -> failwith "a channel") (list (find "channel_order" certificate));
  let _, packets = List.fold_left (fun (node, found) table ->
      (node + 1, List.rev_append (map (packet far node) (list (find "rows" table))) found))
      (0, []) (list (find "nodes" program)) in
  let ahead node port = Option.map number (far (integer node) (integer port)) in
  let rank_of ((node, port), vc) =
    Hashtbl.find_opt rank (integer node, integer port, integer vc) in
  let holds = Checker.check ahead rank_of packets in
  print_endline (if holds then "holds" else "does not hold");
  exit (if holds then 0 else 1)
