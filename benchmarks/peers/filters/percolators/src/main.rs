//! Percolators written by others, asked by a worker of the peers over pipes: `percolators mokaccino N | a-tree`.
//!
//! Everything is 64-bit integers of the machine's order. First come the filters: how many, and of each how many
//! conditions, and of each condition column, lowest and highest value. Then batches: how many images, and of each its
//! row's number and its values; the answer is how many hits, and of each the image's place in the batch, the filter and
//! the kind: 1 the row left it, 2 entered it, 3 stayed within. What a row met last is kept, so that a change is looked
//! up once. The answer to the filters themselves is one number, 0.

use std::collections::HashMap;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::num::NonZeroUsize;

use a_tree::{ATree, AttributeDefinition};
use mokaccino::prelude::{CNFQueryable, Document, Percolator, Query};

const COLUMNS: usize = 20;
/// Columns below this one are asked with `=` only.
const CATEGORICAL: usize = 10;

struct Condition {
    column: usize,
    lo: i64,
    hi: i64,
}

trait Index {
    /// Return the filters that an image meets, ascending.
    fn met(&self, image: &[i64]) -> Vec<i64>;
}

/// Every numeric column is two fields, one for `>=` and one for `<=`: mokaccino 0.9.1 takes a bound of the one for the
/// same bound of the other where they have a field in common, and then misses hits.
struct Mokaccino {
    percolator: Percolator,
    names: Vec<[String; 2]>,
}

impl Mokaccino {
    fn of(filters: &[Vec<Condition>], matchers: usize) -> Self {
        let names: Vec<_> = (0..COLUMNS).map(|c| [format!("c{c}"), format!("d{c}")]).collect();
        let matchers = NonZeroUsize::new(matchers).expect("at least one clause matcher");
        let mut percolator = Percolator::builder().n_clause_matchers(matchers).build();
        for (number, filter) in filters.iter().enumerate() {
            let asked = percolator.add_query(Query::from_and(
                filter.iter().flat_map(|c| clauses(&names, c)).collect(),
            ));
            assert_eq!(asked as usize, number);
        }
        Mokaccino { percolator, names }
    }
}

fn clauses(names: &[[String; 2]], condition: &Condition) -> Vec<Query> {
    let [name, other] = &names[condition.column];
    if condition.column < CATEGORICAL {
        vec![name.as_str().has_value(condition.lo.to_string())]
    } else {
        vec![name.as_str().i64_ge(condition.lo), other.as_str().i64_le(condition.hi)]
    }
}

impl Index for Mokaccino {
    fn met(&self, image: &[i64]) -> Vec<i64> {
        let mut document = Document::default();
        for (column, ([name, other], value)) in self.names.iter().zip(image).enumerate() {
            let value = value.to_string();
            if column >= CATEGORICAL {
                document = document.with_value(other.as_str(), value.as_str());
            }
            document = document.with_value(name.as_str(), value.as_str());
        }
        self.percolator.percolate(&document).map(i64::from).collect()
    }
}

struct Tree {
    tree: ATree<i64>,
    names: Vec<String>,
}

impl Tree {
    fn of(filters: &[Vec<Condition>]) -> Self {
        let names: Vec<String> = (0..COLUMNS).map(|c| format!("c{c}")).collect();
        let attributes: Vec<_> = names.iter().map(|name| AttributeDefinition::integer(name)).collect();
        let mut tree = ATree::new(&attributes).expect("the columns have different names");
        for (number, filter) in filters.iter().enumerate() {
            let texts: Vec<String> = filter.iter().map(|c| text(&names[c.column], c)).collect();
            tree.insert(&(number as i64), &texts.join(" and "))
                .expect("conditions are sound");
        }
        Tree { tree, names }
    }
}

fn text(name: &str, condition: &Condition) -> String {
    if condition.column < CATEGORICAL {
        format!("{name} = {}", condition.lo)
    } else {
        format!("{name} >= {} and {name} <= {}", condition.lo, condition.hi)
    }
}

impl Index for Tree {
    fn met(&self, image: &[i64]) -> Vec<i64> {
        let mut event = self.tree.make_event();
        for (name, value) in self.names.iter().zip(image) {
            event.with_integer(name, *value).expect("the tree has this column");
        }
        let event = event.build().expect("every column has a value");
        let report = self.tree.search(&event).expect("the event is sound");
        let mut met: Vec<i64> = report.matches().iter().map(|number| **number).collect();
        met.sort_unstable();
        met.dedup();
        met
    }
}

/// Return hits of filter and kind: in `before` alone 1, in `now` alone 2, in both 3. Both ascend.
fn compare(before: &[i64], now: &[i64]) -> Vec<(i64, i64)> {
    let left = before.iter().filter(|f| now.binary_search(f).is_err()).map(|f| (*f, 1));
    let there = now
        .iter()
        .map(|f| (*f, if before.binary_search(f).is_ok() { 3 } else { 2 }));
    left.chain(there).collect()
}

fn read(from: &mut impl Read) -> io::Result<i64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(i64::from_ne_bytes(bytes))
}

fn read_filters(from: &mut impl Read) -> io::Result<Vec<Vec<Condition>>> {
    let many = read(from)?;
    let mut filters = Vec::with_capacity(many as usize);
    for _ in 0..many {
        let mut filter = Vec::new();
        for _ in 0..read(from)? {
            filter.push(Condition {
                column: read(from)? as usize,
                lo: read(from)?,
                hi: read(from)?,
            });
        }
        filters.push(filter);
    }
    Ok(filters)
}

fn serve(index: &dyn Index, from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut held: HashMap<i64, Vec<i64>> = HashMap::new();
    loop {
        let many = match read(from) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            many => many?,
        };
        let mut hits = Vec::new();
        for place in 0..many {
            let row = read(from)?;
            let image = (0..COLUMNS).map(|_| read(from)).collect::<io::Result<Vec<i64>>>()?;
            let now = index.met(&image);
            let before = held.insert(row, now).unwrap_or_default();
            hits.extend(
                compare(&before, &held[&row])
                    .into_iter()
                    .map(|(filter, kind)| [place, filter, kind]),
            );
        }
        let words = std::iter::once(hits.len() as i64).chain(hits.into_iter().flatten());
        to.write_all(&words.flat_map(i64::to_ne_bytes).collect::<Vec<u8>>())?;
        to.flush()?;
    }
}

fn main() -> io::Result<()> {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let (mut from, mut to) = (
        BufReader::with_capacity(1 << 20, io::stdin().lock()),
        BufWriter::new(io::stdout().lock()),
    );
    let filters = read_filters(&mut from)?;
    let index: Box<dyn Index> = match asked.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["mokaccino", matchers] => Box::new(Mokaccino::of(
            &filters,
            matchers.parse().expect("a number of clause matchers"),
        )),
        ["a-tree"] => Box::new(Tree::of(&filters)),
        _ => panic!("expected `mokaccino N` or `a-tree`, got {asked:?}"),
    };
    to.write_all(&0_i64.to_ne_bytes())?;
    to.flush()?;
    serve(index.as_ref(), &mut from, &mut to)
}
